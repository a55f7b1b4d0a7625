/* Leaks of a line whose ops take turns, or of scopes that are called by numbers. */
#include "lib/analysis/leaks_parts.h"
#include "lib/analysis/numbered.h"
#include "lib/base/hash.h"
#include "lib/base/wrap.h"
#include <stdlib.h>
#include <string.h>

/* A part that is judged with others of its line. */
struct in_line {
    uint32_t line;
    struct mt_leak_found *part;
};

/* The parts of lines that are judged together. */
struct pool {
    const struct mt_leak_finder *f;
    struct mt_leak_found *parts;
    size_t part_n;
    uint32_t *line_of;               /* of each group; MT_NONE: it has none, or leaks by itself */
    MT_VEC(uint32_t) parts_of;       /* how many parts each line has */
    MT_VEC(struct in_line) chosen;   /* line by line */
    MT_VEC(struct mt_survivor *) of; /* of the line under way */
    MT_VEC(struct mt_survivor) survivors; /* copies of these, whose groups are lines */
    struct mt_leak_finder lines;          /* whose groups are lines */
    struct mt_map calls;                  /* of each scope, by its name */
};

static bool has_lines(const struct mt_grouper *g)
{
    return g->tree->has_lines && mt_group_has(g->keys, g->key_n, MT_BY_TOP) &&
           (mt_group_has(g->keys, g->key_n, MT_BY_SITE) ||
            mt_group_has(g->keys, g->key_n, MT_BY_LINE));
}

static bool may_take_turns(const struct mt_grouper *g)
{
    return has_lines(g) || mt_group_has(g->keys, g->key_n, MT_BY_SITE) ||
           mt_group_has(g->keys, g->key_n, MT_BY_SCOPE);
}

static uint64_t scope_key(const char *name)
{
    return mt_hash_short(5, name, strlen(name));
}

static void count_calls(struct pool *p)
{
    enum { ENOUGH = 1000 };
    const struct mt_tree *t = p->f->grouper->tree;
    for (size_t i = 0; i < t->nodes.n; i++) {
        const struct mt_tree_node *n = &t->nodes.v[i];
        if (n->scope == MT_NONE || n->frame != n->scope)
            continue;
        const int64_t calls = mt_numbers_get(&t->ops.calls_n, i);
        uint32_t *sum = mt_map_at(&p->calls, scope_key(mt_strtab_get(&t->strings, n->scope)));
        *sum = *sum == MT_MAP_NONE ? 0 : *sum;
        *sum += *sum < ENOUGH ? (uint32_t)(calls < ENOUGH ? calls : ENOUGH) : 0;
    }
}

/* Whether the scope of a key is called once: its number may be that of a step, or a request. What
 * is called again, as layers are, is a place of its own. */
static bool is_called_once(const struct pool *p, const char *key)
{
    static const char in[] = " in ";
    const char *scope = strstr(key, in);
    const uint32_t calls = mt_map_get(&p->calls, scope_key(scope ? scope + strlen(in) : key));
    return calls == MT_MAP_NONE || calls <= 1;
}

/* A key of a group without what sites of one line may differ by; lines: there are such. */
static uint64_t line_key(const struct pool *p, const char *const *names, int k, bool lines,
                         struct mt_buf *text)
{
    const enum mt_group_key by = p->f->grouper->keys[k];
    mt_buf_clear(text);
    mt_buf_adds(text, "");
    if (by == MT_BY_TOP && lines)
        return 0;
    if (by == MT_BY_SITE && is_called_once(p, names[k]))
        mt_numbered_site_add(text, names[k]);
    else if (by == MT_BY_SCOPE && is_called_once(p, names[k]))
        mt_numbered_scope_add(text, names[k]);
    else
        mt_buf_adds(text, names[k]);
    return mt_hash_short(4, text->s, text->n);
}

/* Groups that differ by their top ops alone, or by numbers in their scopes, are of one line. */
static void find_lines(struct pool *p)
{
    const struct mt_grouper *g = p->f->grouper;
    const bool lines_known = has_lines(g);
    struct mt_map lines = {0};
    struct mt_buf text = {0};
    count_calls(p);
    p->line_of = mt_alloc((g->names.n + 1) * sizeof *p->line_of);
    for (size_t i = 0; i < g->names.n; i++) {
        uint64_t key[MT_BY_N] = {0};
        for (int k = 0; k < g->key_n; k++)
            key[k] = line_key(p, g->names.v[i].key, k, lines_known, &text);
        p->line_of[i] = MT_NONE;
        if (g->names.v[i].explicit_row)
            continue;
        uint32_t *line = mt_map_at(&lines, mt_hash_short(3, key, sizeof key));
        if (*line == MT_MAP_NONE) {
            *line = (uint32_t)p->parts_of.n;
            *mt_vec_push(&p->parts_of) = 0;
        }
        p->line_of[i] = *line;
    }
    mt_buf_free(&text);
    mt_map_free(&p->calls);
    mt_map_free(&lines);
}

/* The line with whose other parts it is judged; MT_NONE: it is not. */
static uint32_t line_of_part(const struct pool *p, uint32_t group, bool doubtful)
{
    uint32_t line = doubtful || group >= p->f->grouper->names.n ? MT_NONE : p->line_of[group];
    return line != MT_NONE && p->parts_of.v[line] > 1 ? line : MT_NONE;
}

static int line_cmp(const void *a, const void *b)
{
    const struct in_line *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->part < y->part ? -1 : x->part > y->part;
}

/* Whether it leaves something in every step: then nothing else takes turns with it. */
static bool is_steady(const struct mt_leak_found *part)
{
    int64_t n = 0, last = -1;
    for (const struct mt_survivor *s = part->from; s < part->end; s++)
        if (s->alike && s->overdue && s->step != last) {
            last = s->step;
            n++;
        }
    return part->verdict == MT_VERDICT_LEAK && n > part->by.last - part->by.first;
}

static void choose(struct pool *p)
{
    for (size_t i = 0; i < p->part_n; i++)
        if (is_steady(&p->parts[i]))
            p->line_of[p->parts[i].from->group] = MT_NONE;
    for (size_t i = 0; i < p->part_n; i++) {
        const struct mt_survivor *s = p->parts[i].from;
        if (!s->doubtful && p->line_of[s->group] != MT_NONE)
            p->parts_of.v[p->line_of[s->group]]++;
    }
    for (size_t i = 0; i < p->part_n; i++) {
        const struct mt_survivor *s = p->parts[i].from;
        uint32_t line = line_of_part(p, s->group, s->doubtful);
        if (line != MT_NONE)
            *mt_vec_push(&p->chosen) = (struct in_line){line, &p->parts[i]};
    }
    if (p->chosen.n)
        qsort(p->chosen.v, p->chosen.n, sizeof *p->chosen.v, line_cmp);
}

static int step_cmp(const void *a, const void *b)
{
    const struct mt_survivor *const *x = a, *const *y = b;
    if ((*x)->step != (*y)->step)
        return (*x)->step < (*y)->step ? -1 : 1;
    return (*x)->bytes < (*y)->bytes ? -1 : (*x)->bytes > (*y)->bytes;
}

static void gather_survivors(struct pool *p, const struct in_line *from, const struct in_line *end)
{
    p->of.n = p->survivors.n = 0;
    for (const struct in_line *at = from; at < end; at++)
        for (struct mt_survivor *s = at->part->from; s < at->part->end; s++)
            *mt_vec_push(&p->of) = s;
    qsort(p->of.v, p->of.n, sizeof *p->of.v, step_cmp);
    for (size_t i = 0; i < p->of.n; i++) {
        struct mt_survivor *copy = mt_vec_push(&p->survivors);
        *copy = *p->of.v[i];
        copy->group = from->line;
    }
}

/* How long others of the lines lived, and what lines held. */
static void gather_lives(struct pool *p)
{
    const struct mt_leak_finder *f = p->f;
    p->lines = *f;
    p->lines.holdings = (struct mt_retained){0};
    p->lines.max_lifetime.v = NULL;
    p->lines.max_lifetime.n = p->lines.max_lifetime.cap = 0;
    for (size_t i = 0; i < p->parts_of.n; i++)
        *mt_vec_push(&p->lines.max_lifetime) = -1;
    for (uint32_t i = 0; i < f->max_lifetime.n; i++) {
        uint32_t line = line_of_part(p, i, false);
        if (line != MT_NONE && p->lines.max_lifetime.v[line] < f->max_lifetime.v[i])
            p->lines.max_lifetime.v[line] = f->max_lifetime.v[i];
    }
    for (size_t i = 0; i < f->holdings.all.n; i++) {
        const struct mt_retained_change *c = &f->holdings.all.v[i];
        uint32_t line = line_of_part(p, c->site / 2, c->site % 2);
        if (line != MT_NONE)
            mt_retained_change(&p->lines.holdings, mt_leak_part(line, false), c->step, c->bytes,
                               c->blocks_n);
    }
    mt_retained_sort(&p->lines.holdings);
}

/* Blocks of a part that the line grows by. */
static bool has_share(const struct mt_leak_found *part)
{
    for (const struct mt_survivor *s = part->from; s < part->end; s++)
        if (s->alike && s->overdue)
            return true;
    return false;
}

/* What a part has of the growth of its line, whose rest is `left`. */
static void give_share(struct mt_leak_found *part, const struct mt_growth *line,
                       enum mt_verdict verdict, struct mt_growth *left)
{
    part->verdict = verdict;
    part->by = (struct mt_growth){.first = line->first, .last = line->last};
    for (const struct mt_survivor *s = part->from; s < part->end; s++)
        if (s->alike && s->overdue && s->step > line->first) {
            mt_wrap_inc(&part->by.bytes, s->bytes);
            part->by.blocks_n++;
        }
    left->bytes = mt_wrap_sub(left->bytes, part->by.bytes);
    left->blocks_n -= part->by.blocks_n;
}

/* Marks the survivors of the parts of a line as those of the line. Whether it has two parts or more
 * that share its growth, of which that says more than they do. */
static bool mark(struct pool *p, const struct in_line *from, const struct in_line *end,
                 enum mt_verdict verdict)
{
    size_t n = 0;
    bool more = false, less = false;
    for (size_t i = 0; i < p->of.n; i++) {
        p->of.v[i]->overdue = p->survivors.v[i].overdue;
        p->of.v[i]->alike = p->survivors.v[i].alike;
    }
    for (const struct in_line *at = from; at < end; at++) {
        if (!has_share(at->part))
            continue;
        n++;
        more |= verdict < at->part->verdict;
        less |= verdict > at->part->verdict;
    }
    return n > 1 && more && !less;
}

/* Judges the parts of a line together. */
static void judge_line(struct pool *p, const struct in_line *from, const struct in_line *end)
{
    struct mt_growth by, left;
    struct mt_leak_found *largest = NULL;
    gather_survivors(p, from, end);
    enum mt_verdict verdict =
        mt_leak_growth(&p->lines, p->survivors.v, p->survivors.v + p->survivors.n, &by);
    bool together = mark(p, from, end, verdict);
    left = by;
    for (const struct in_line *at = from; at < end; at++) {
        struct mt_leak_found *part = at->part;
        if (!together || !has_share(part)) { /* as it was */
            part->verdict = mt_leak_growth(p->f, part->from, part->end, &part->by);
            continue;
        }
        give_share(part, &by, verdict, &left);
        largest = !largest || part->by.bytes > largest->by.bytes ? part : largest;
    }
    if (!largest)
        return;
    mt_wrap_inc(&largest->by.bytes, left.bytes);
    largest->by.blocks_n += left.blocks_n;
}

void mt_leaks_of_lines(const struct mt_leak_finder *f, struct mt_leak_found *v, size_t n)
{
    struct pool p = {.f = f, .parts = v, .part_n = n};
    if (!may_take_turns(f->grouper) || !f->step_n)
        return;
    find_lines(&p);
    choose(&p);
    gather_lives(&p);
    for (size_t from = 0, end; from < p.chosen.n; from = end) {
        for (end = from; end < p.chosen.n && p.chosen.v[end].line == p.chosen.v[from].line;)
            end++;
        judge_line(&p, p.chosen.v + from, p.chosen.v + end);
    }
    mt_retained_free(&p.lines.holdings);
    mt_vec_free(&p.lines.max_lifetime);
    mt_vec_free(&p.survivors);
    mt_vec_free(&p.of);
    mt_vec_free(&p.chosen);
    mt_vec_free(&p.parts_of);
    free(p.line_of);
}
