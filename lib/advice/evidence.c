#include "lib/advice/evidence.h"

#include "lib/base/map.h"
#include "lib/base/wrap.h"
#include "lib/run/sites.h"
#include <stdlib.h>
#include <string.h>

static const char module_prefix[] = "nn.Module: ";

struct evidence {
    const struct mt_advice_plan *p;
    struct mt_strtab *strings;
    struct mt_advice *out;
    uint32_t *of_node;    /* by node: its site + 1, 0: not looked for yet; the last: outside ops */
    struct mt_map index;  /* what tells sites apart (a string) -> site */
    struct mt_map pieces; /* of a site: seen */
};

/* ---- names ---- */

/* A text of its own, one pointer for equal ones. */
static const char *keep(struct mt_strtab *strings, const char *s, size_t n)
{
    return mt_strtab_get(strings, mt_strtab_add(strings, s, n));
}

static const char *keep_text(struct mt_strtab *strings, const char *s)
{
    return keep(strings, s, strlen(s));
}

/* "Linear" of "nn.Module: Linear_3"; NULL: none is known. */
static const char *module_of(const struct mt_tree *t, struct mt_strtab *strings, uint32_t node)
{
    uint32_t module = t->nodes.v[node].module;
    if (module == MT_NONE)
        return NULL;
    const char *name = mt_strtab_get(&t->strings, module);
    name += strncmp(name, module_prefix, sizeof module_prefix - 1) ? 0 : sizeof module_prefix - 1;
    const char *low = strrchr(name, '_');
    bool numbered = low && low[1] && low[1 + strspn(low + 1, "0123456789")] == '\0';
    return keep(strings, name, numbered ? (size_t)(low - name) : strlen(name));
}

uint32_t mt_advice_around(const struct mt_advice_facts *f, uint32_t a, uint32_t b)
{
    const struct mt_tree *t = f->tree;
    while (a != b && a != MT_NONE && b != MT_NONE) {
        uint32_t *deeper = a > b ? &a : &b; /* parents come before their children */
        *deeper = t->nodes.v[*deeper].parent;
    }
    return a == b ? a : MT_NONE;
}

void mt_advice_add_piece_name(const struct mt_advice_facts *f, uint32_t node, struct mt_buf *out)
{
    const struct mt_tree *t = f->tree;
    if (node == MT_NONE)
        return;
    const struct mt_tree_node *n = &t->nodes.v[node];
    uint32_t id = n->module != MT_NONE ? n->module : n->scope;
    if (id == MT_NONE)
        return;
    const char *name = mt_strtab_get(&t->strings, id);
    bool prefixed = strncmp(name, module_prefix, sizeof module_prefix - 1) == 0;
    mt_buf_adds(out, prefixed ? name + sizeof module_prefix - 1 : name);
}

/* ---- sites ---- */

static struct mt_advice_site site_of(struct evidence *e, uint32_t node)
{
    static const char outside[] = "[outside ops]";
    const struct mt_tree *t = e->p->f->tree;
    struct mt_advice_site s = {.pieces_n = e->p->piece ? 0 : MT_UNKNOWN};
    if (node == MT_NONE) {
        s.name = s.top = keep(e->strings, outside, sizeof outside - 1);
        return s;
    }
    const struct mt_tree_node *n = &t->nodes.v[node];
    const char *top = mt_strtab_get(&t->strings, n->top);
    const char *scope = n->scope == MT_NONE ? NULL : mt_strtab_get(&t->strings, n->scope);
    struct mt_buf name = {0};
    mt_site_add(&name, top, scope);
    s.name = keep(e->strings, name.s, name.n);
    mt_buf_free(&name);
    s.top = keep_text(e->strings, top);
    s.scope = scope ? keep_text(e->strings, scope) : NULL;
    s.module = module_of(t, e->strings, node);
    if (n->line == MT_NONE)
        return s;
    mt_tree_line_add(&name, t, node);
    s.source = keep(e->strings, name.s, name.n);
    mt_buf_free(&name);
    return s;
}

/* Index of the site of a node, added where it is new. */
static uint32_t find_site(struct evidence *e, uint32_t node)
{
    size_t at = node == MT_NONE ? e->p->f->tree->nodes.n : node;
    if (e->of_node[at])
        return e->of_node[at] - 1;
    const struct mt_advice_site s = site_of(e, node);
    const char *const key[] = {s.name, s.module, s.source};
    uint32_t id = mt_strtab_add(e->strings, (const char *)key, sizeof key);
    uint32_t *index = mt_map_at(&e->index, id);
    if (*index == MT_MAP_NONE) {
        *index = (uint32_t)e->out->sites.n;
        *mt_vec_push(&e->out->sites) = s;
    }
    e->of_node[at] = *index + 1;
    return *index;
}

static void add_block(struct evidence *e, size_t block)
{
    const struct mt_advice_block *b = &e->p->f->blocks.v[block];
    uint32_t at = find_site(e, b->node);
    struct mt_advice_site *s = &e->out->sites.v[at];
    mt_wrap_inc(&s->at_peak_b, b->bytes);
    s->at_peak_n++;
    mt_wrap_inc(&e->out->at_peak_b, b->bytes);
    e->out->at_peak_n++;
    if (!e->p->piece || !e->p->piece[block])
        return;
    uint32_t *seen = mt_map_at(&e->pieces, (uint64_t)at << 32 | e->p->piece[block]);
    s->pieces_n += *seen == MT_MAP_NONE;
    *seen = 1;
}

static int text_cmp(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int site_cmp(const void *a, const void *b)
{
    const struct mt_advice_site *x = a, *y = b;
    if (x->at_peak_b != y->at_peak_b)
        return x->at_peak_b < y->at_peak_b ? 1 : -1;
    int c = strcmp(x->name, y->name);
    c = c ? c : text_cmp(x->module, y->module);
    return c ? c : text_cmp(x->source, y->source);
}

void mt_advice_find_evidence(const struct mt_advice_plan *p, struct mt_strtab *strings,
                             struct mt_advice *out)
{
    const struct mt_advice_facts *f = p->f;
    struct evidence e = {.p = p, .strings = strings, .out = out};
    e.of_node = mt_alloc((f->tree->nodes.n + 1) * sizeof *e.of_node);
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if (p->touched[i] && b->alloc_record <= f->peak_record && b->freed_record > f->peak_record)
            add_block(&e, i);
    }
    if (out->sites.n)
        qsort(out->sites.v, out->sites.n, sizeof *out->sites.v, site_cmp);
    free(e.of_node);
    mt_map_free(&e.index);
    mt_map_free(&e.pieces);
}
