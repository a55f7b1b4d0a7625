#include "lib/run/match.h"

#include "lib/base/hash.h"
#include "lib/base/map.h"
#include "lib/base/sort.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The end of a run of digits. */
static const char *digits(const char *s)
{
    while (isdigit((unsigned char)*s))
        s++;
    return s;
}

/* The end of an address that begins at s; s where none does: "10x10" holds none. */
static const char *address(const char *start, const char *s)
{
    if (s[0] != '0' || s[1] != 'x' || (s > start && isalnum((unsigned char)s[-1])))
        return s;
    const char *end = s + 2;
    while (isxdigit((unsigned char)*end))
        end++;
    return end > s + 2 ? end : s;
}

/* "FOLDER/FILE(LINE): FUNCTION" of traces, "FILE:LINE FUNCTION" of snapshots. */
struct python_frame {
    const char *file, *file_end; /* without the folder, and what tells generated files apart */
    const char *line, *rest;     /* the number; what follows it */
};

/* Whether s[0..end) ends as files of Python and JavaScript do. */
static bool is_script(const char *s, const char *end)
{
    static const char *const suffixes[] = {".py", ".js", ".mjs", ".cjs", ".ts", ".jsx", ".tsx"};
    for (size_t i = 0; i < MT_ARRAY_LEN(suffixes); i++) {
        size_t n = strlen(suffixes[i]);
        if ((size_t)(end - s) > n && memcmp(end - n, suffixes[i], n) == 0)
            return true;
    }
    return false;
}

/* Whether s[0..end) ends in the name of a Python file: "x.py", "<frozen os>", "<eval_with_key>.3".
 * A folder such as ".pyenv" or "x.pyproj" is none. open: the first '<' of s, NULL: there is none */
static bool is_python_file(const char *s, const char *end, const char *open,
                           struct python_frame *out)
{
    const char *made = end;
    while (made > s && isdigit((unsigned char)made[-1]))
        made--;
    made = made < end && made > s && made[-1] == '.' ? made - 1 : end;
    bool generated = open && open < made && made[-1] == '>';
    out->file = out->file_end = generated ? made : end;
    if (generated)
        out->file = open;
    else if (!is_script(s, end))
        return false;
    while (!generated && out->file > s && !strchr("/\\", out->file[-1]))
        out->file--;
    return true;
}

/* The next of some characters in s[0..end): of a million names most have none. */
static const char *next_of(const bool marks[256], const char *s, const char *end)
{
    while (s < end && !marks[(unsigned char)*s])
        s++;
    return s;
}

/* Finds the first Python frame in s[0..end). */
static bool find_python(const char *s, const char *end, struct python_frame *out)
{
    static const bool marks[256] = {['('] = true, [':'] = true};
    const char *open = memchr(s, '<', (size_t)(end - s));
    for (const char *p = s; (p = next_of(marks, p, end)) < end; p++) {
        if (!isdigit((unsigned char)p[1]))
            continue;
        out->line = p + 1;
        out->rest = digits(p + 1);
        if (*out->rest != (*p == '(' ? ')' : ' ') || !is_python_file(s, p, open, out))
            continue;
        out->rest += *p == '(';
        return true;
    }
    return false;
}

/* The end of what changes from run to run and begins at s, in the frame start..end; s: nothing
 * does.
 */
static const char *changing(const char *start, const char *s, const char *end, bool module)
{
    if (*s == '#' && digits(s + 1) > s + 1)
        return digits(s + 1);
    if (module && *s == '_' && digits(s + 1) == end)
        return end;
    return address(start, s);
}

/* Appends one frame of a path, s[0..n). */
static void frame_form(struct mt_buf *out, const char *s, size_t n)
{
    static const bool marks[256] = {['#'] = true, ['_'] = true, ['0'] = true};
    const char *start = s, *end = s + n, *stop;
    struct python_frame python;
    if (find_python(s, end, &python)) {
        mt_buf_add(out, python.file, (size_t)(python.file_end - python.file));
        s = python.rest;
    }
    bool module = end - s > 11 && memcmp(s, "nn.Module: ", 11) == 0;
    const char *kept = s; /* not yet appended */
    while ((s = next_of(marks, s, end)) < end) {
        if ((stop = changing(start, s, end, module)) == s) {
            s++;
            continue;
        }
        mt_buf_add(out, kept, (size_t)(s - kept));
        s = kept = stop;
    }
    mt_buf_add(out, kept, (size_t)(s - kept));
}

void mt_canonical_name(struct mt_buf *out, const char *name)
{
    mt_buf_adds(out, "");
    for (const char *next; (next = strstr(name, " > ")); name = next + 3) {
        frame_form(out, name, (size_t)(next - name));
        mt_buf_adds(out, " > ");
    }
    frame_form(out, name, strlen(name));
}

static const char *last_name(const char *path)
{
    const char *last = path;
    for (const char *p = path; (p = strstr(p, " > ")); p += 3)
        last = p + 3;
    return last;
}

/* Whether a Python frame is in a name or path, the first of them. */
static bool has_python(const char *name, struct python_frame *out)
{
    return find_python(name, name + strlen(name), out);
}

/* "train.py:3 step in scope", "train.py(3): step" -> "step ...": the function without its file. */
static const char *function_of(const struct python_frame *python)
{
    return python->rest + strspn(python->rest, ": ");
}

struct aligner {
    const enum mt_group_key *keys;
    int key_n;
    struct mt_buf form; /* of the key at hand */
    uint64_t seed;      /* of hashes of forms */
    struct mt_matches *out;
};

/* A name says less than a form where it is the last of a path, or a function without its file. */
static bool has_name(const struct aligner *a, const struct mt_match_key *k)
{
    bool has = false;
    struct python_frame unused;
    for (int i = 0; i < a->key_n && !has; i++)
        has = a->keys[i] == MT_BY_PATH || has_python(k->key[i], &unused);
    return has;
}

/* Makes the form of a key as seen by a kind of match; false: it cannot match so. *whole: the key is
 * its own form. */
static bool make_form(struct aligner *a, const struct mt_match_key *k, enum mt_match match,
                      bool *whole)
{
    size_t n = 0; /* of the key */
    if (match == MT_MATCH_NAME && !has_name(a, k))
        return false;
    mt_buf_clear(&a->form);
    for (int i = 0; i < a->key_n; i++) {
        const char *s = k->key[i];
        struct python_frame python;
        if (match == MT_MATCH_NAME && a->keys[i] == MT_BY_PATH)
            s = last_name(s);
        else if (match == MT_MATCH_NAME && has_python(s, &python))
            s = function_of(&python);
        mt_canonical_name(&a->form, s);
        mt_buf_addc(&a->form, '\x1f');
        n += strlen(k->key[i]) + 1;
    }
    *whole = match == MT_MATCH_FORM && a->form.n == n; /* what changes is left out */
    mt_buf_addc(&a->form, k->explicit_row ? '!' : '=');
    return true;
}

/* Adds a key to a row, which is made when it is MT_NONE. */
static void join(struct aligner *a, struct mt_match_key *k, int side, enum mt_match match,
                 uint32_t *row)
{
    if (*row == MT_NONE) {
        *row = (uint32_t)a->out->rows.n;
        *mt_vec_push(&a->out->rows) =
            (struct mt_match_row){.explicit_row = k->explicit_row, .match = match};
    }
    struct mt_match_row *r = &a->out->rows.v[*row];
    r->key = k->key;
    r->in[side] = true;
    k->row = *row;
}

/* A key not matched yet. */
struct candidate {
    uint32_t form;       /* place of the first key of BASE that has it; first, to sort by it */
    uint32_t place : 31; /* of this key; there are no more than texts */
    uint32_t whole : 1;  /* it is its own form */
    union {
        uint64_t hash; /* of the form */
        int64_t line;  /* of its first Python frame, -1 = none */
    };
};

struct candidates {
    struct candidate *v;
    size_t n, cap;
};

static int candidate_cmp(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Brings candidates of one form in the order of their lines. Whether all have some. */
static bool by_lines(const struct mt_match_key *keys, struct candidate *c, size_t n, bool *any)
{
    struct python_frame python;
    for (size_t i = 0; i < n; i++) {
        bool has = has_python(keys[c[i].place].key[0], &python);
        c[i].line = has ? strtoll(python.line, NULL, 10) : -1;
        *any |= has;
    }
    if (n > 1)
        qsort(c, n, sizeof *c, candidate_cmp);
    return c[0].line >= 0;
}

/*
 * Candidates of one form, of BASE and of NEW. As many lines of a function on either side are the
 * same lines, moved; else all of them are one row, unless the function is all they share. BASE and
 * NEW are asked the same: which is which must not matter.
 */
static void match_form(struct aligner *a, struct mt_match_key *side[2], struct candidate *c[2],
                       const size_t n[2], enum mt_match match)
{
    bool all_lines = true, any_line = false;
    const bool pair = match == MT_MATCH_FORM && n[0] == 1 && n[1] == 1; /* whatever their lines */
    for (int s = 0; s < 2 && !pair; s++)
        all_lines &= by_lines(side[s], c[s], n[s], &any_line);
    bool lines = n[0] == n[1] && all_lines;
    uint32_t row = MT_NONE;
    if (!lines && match == MT_MATCH_NAME && any_line && a->keys[0] != MT_BY_PATH)
        return;
    for (size_t i = 0; i < n[0]; i++) {
        row = lines ? MT_NONE : row;
        join(a, &side[0][c[0][i].place], 0, match, &row);
        if (lines)
            join(a, &side[1][c[1][i].place], 1, match, &row);
    }
    for (size_t i = 0; i < n[1] && !lines; i++)
        join(a, &side[1][c[1][i].place], 1, match, &row);
}

static void add_candidates(struct aligner *a, const struct mt_match_key *keys, size_t n,
                           enum mt_match match, struct candidates *out)
{
    bool whole;
    for (uint32_t i = 0; i < n; i++)
        if (keys[i].row == MT_NONE && make_form(a, &keys[i], match, &whole))
            *mt_vec_push(out) = (struct candidate){
                .place = i, .whole = whole, .hash = mt_hash_short(a->seed, a->form.s, a->form.n)};
}

/* Has the place of one that comes soon fetched into the processor's cache. */
static void soon(const struct mt_map *forms, const struct candidates *c, size_t i)
{
    enum { AHEAD = 16 };
    if (i + AHEAD < c->n)
        mt_map_soon(forms, c->v[i + AHEAD].hash);
}

enum { NEW_ALONE = MT_MAP_NONE - 1 }; /* in place of a place in BASE */

/* Adds the forms that are not the whole of a key, and tells them of a key of BASE that comes before
 * all others: only with these a key that is its own form can have it in common, or both would have
 * matched as they are. */
static void add_forms(const struct candidates all[2], struct mt_map *forms)
{
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < all[s].n; i++) {
            const struct candidate *c = &all[s].v[i];
            soon(forms, &all[s], i);
            if (c->whole)
                continue;
            uint32_t *first = mt_map_at(forms, c->hash), place = s ? NEW_ALONE : c->place;
            *first = place < *first ? place : *first;
        }
    for (size_t i = 0; i < all[0].n; i++) {
        const struct candidate *c = &all[0].v[i];
        soon(forms, &all[0], i);
        const uint32_t first = c->whole ? mt_map_get(forms, c->hash) : MT_MAP_NONE;
        if (first != MT_MAP_NONE && first > c->place)
            *mt_map_at(forms, c->hash) = c->place;
    }
}

/* Leaves those whose form BASE has, by form. */
static void keep_of_base(const struct mt_map *forms, struct candidates *c, size_t base_n)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        soon(forms, c, i);
        c->v[i].form = mt_map_get(forms, c->v[i].hash);
        if (c->v[i].form < NEW_ALONE)
            c->v[n++] = c->v[i];
    }
    c->n = n;
    mt_sort_by_number(c->v, c->n, sizeof *c->v, (uint32_t)base_n);
}

/* The keys of either side whose form BASE has, by form. */
static void find_candidates(struct aligner *a, struct mt_match_key *side[2], const size_t n[2],
                            enum mt_match match, struct candidates out[2])
{
    struct mt_map forms = {0};
    for (int s = 0; s < 2; s++)
        add_candidates(a, side[s], n[s], match, &out[s]);
    add_forms(out, &forms);
    for (int s = 0; s < 2; s++)
        keep_of_base(&forms, &out[s], n[0]);
    mt_map_free(&forms);
}

/* Joins what both sides have in this form; rows are made only where both do. */
static void match_all(struct aligner *a, struct mt_match_key *side[2], const size_t n[2],
                      enum mt_match match)
{
    struct candidates all[2] = {0};
    size_t first[2] = {0}, stop[2] = {0};
    find_candidates(a, side, n, match, all);
    for (uint32_t form = 0; form < n[0] && first[1] < all[1].n; form++) {
        for (int s = 0; s < 2; s++)
            for (first[s] = stop[s]; stop[s] < all[s].n && all[s].v[stop[s]].form == form;)
                stop[s]++;
        struct candidate *c[2] = {all[0].v + first[0], all[1].v + first[1]};
        const size_t of_form[2] = {stop[0] - first[0], stop[1] - first[1]};
        if (of_form[1])
            match_form(a, side, c, of_form, match);
    }
    mt_vec_free(&all[0]);
    mt_vec_free(&all[1]);
}

/* ---- the same keys, of which there may be a million ---- */

/* Keys of BASE by their texts, which are not copied, or by their numbers. */
struct key_table {
    bool numbered;
    const struct mt_match_key *keys;
    int key_n;
    uint32_t *slot; /* index + 1, 0 = free */
    size_t slot_n;  /* a power of two */
    uint64_t seed;
};

static bool same_key(const struct key_table *t, const struct mt_match_key *a,
                     const struct mt_match_key *b)
{
    bool same = a->explicit_row == b->explicit_row;
    for (int i = 0; i < t->key_n && same; i++)
        same = strcmp(a->key[i], b->key[i]) == 0;
    return same;
}

/* Where a key stands, or would stand. */
static uint32_t *find_key(const struct key_table *t, const struct mt_match_key *key)
{
    if (t->numbered)
        return &t->slot[key->number];
    uint64_t hash = t->seed + key->explicit_row;
    for (int i = 0; i < t->key_n; i++)
        hash = mt_hash_short(hash, key->key[i], strlen(key->key[i]));
    size_t at = (size_t)hash & (t->slot_n - 1);
    while (t->slot[at] && !same_key(t, &t->keys[t->slot[at] - 1], key))
        at = (at + 1) & (t->slot_n - 1);
    return &t->slot[at];
}

static void make_slots(struct key_table *t, struct mt_match_key *const side[2], const size_t n[2])
{
    t->slot_n = 64;
    while (!t->numbered && t->slot_n < 2 * n[0])
        t->slot_n *= 2;
    for (int s = 0; s < 2 && t->numbered; s++)
        for (size_t i = 0; i < n[s]; i++)
            if (side[s][i].number >= t->slot_n)
                t->slot_n = side[s][i].number + (size_t)1;
    t->slot = mt_alloc(t->slot_n * sizeof *t->slot);
}

/* Joins what both sides have just so. */
static void match_same(struct aligner *a, struct mt_match_key *side[2], const size_t n[2],
                       bool numbered)
{
    struct key_table t = {
        .numbered = numbered, .keys = side[0], .key_n = a->key_n, .seed = mt_hash_seed()};
    make_slots(&t, side, n);
    uint32_t *first[2]; /* in BASE, of the same key */
    bool *in_both = mt_alloc(n[0] + 1);
    for (int s = 0; s < 2; s++) {
        first[s] = mt_alloc((n[s] + 1) * sizeof *first[s]);
        for (uint32_t i = 0; i < n[s]; i++) {
            uint32_t *slot = find_key(&t, &side[s][i]);
            if (!*slot && s == 0)
                *slot = i + 1;
            first[s][i] = *slot ? *slot - 1 : MT_NONE;
            if (s == 1 && *slot)
                in_both[*slot - 1] = true;
        }
    }
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < n[s]; i++)
            if (first[s][i] != MT_NONE && in_both[first[s][i]]) {
                uint32_t row = side[0][first[s][i]].row;
                join(a, &side[s][i], s, MT_MATCH_SAME, &row);
            }
    free(in_both);
    free(first[0]);
    free(first[1]);
    free(t.slot);
}

void mt_match_groups(struct mt_match_key *base, size_t base_n, struct mt_match_key *new,
                     size_t new_n, const enum mt_group_key *keys, int key_n, unsigned forms,
                     struct mt_matches *out)
{
    struct aligner a = {.keys = keys, .key_n = key_n, .seed = mt_hash_seed(), .out = out};
    struct mt_match_key *side[2] = {base, new};
    const size_t n[2] = {base_n, new_n};
    *out = (struct mt_matches){0};
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < n[s]; i++)
            side[s][i].row = MT_NONE;
    match_same(&a, side, n, forms & MT_MATCH_NUMBERED);
    for (int match = MT_MATCH_FORM; match <= MT_MATCH_NAME; match++)
        if (forms >> match & 1)
            match_all(&a, side, n, (enum mt_match)match);
    mt_buf_free(&a.form);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < n[s]; i++)
            if (side[s][i].row == MT_NONE)
                join(&a, &side[s][i], s, MT_MATCH_ONLY, &(uint32_t){MT_NONE});
    for (size_t i = 0; i < out->rows.n; i++)
        out->match_n[out->rows.v[i].match]++;
}

void mt_matches_free(struct mt_matches *a)
{
    mt_vec_free(&a->rows);
}
