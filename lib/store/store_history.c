/* The rows of `usage_chunk`, `live_keyframe`, `moment`, `holding`, `size_stat`, `node_extra`,
 * `max_lifetime`, `kept_gradient` and `unseen`. */
#include "gen/queries.h"
#include "lib/model/list_text.h"
#include "lib/model/sizes.h"
#include "lib/store/store_parts.h"
#include <stdlib.h>
#include <string.h>

/* Bytes from a place in a buffer, which may be empty. */
static const void *bytes_at(const struct mt_buf *b, size_t at)
{
    return b->n ? b->s + at : NULL;
}

static enum mt_status write_curve(struct mt_writer *w, struct mt_err *err)
{
    struct mt_stmt *s;
    const struct mt_curve *c = &w->r->history.curve;
    for (size_t i = 0; i < c->chunks.n; i++) {
        const struct mt_usage_chunk *p = &c->chunks.v[i];
        MT_TRY(mt_db_query(w->db, MT_Q_CHUNK_ADD, &s, err));
        mt_stmt_bind(s, "iiiiiiiiiiiiib", w->device + p->device, p->start_b, p->first_record,
                     p->first_ns, p->min.t_ns, p->min.level_b, p->min.record, p->max.t_ns,
                     p->max.level_b, p->max.record, p->last.t_ns, p->last.level_b, p->last.record,
                     bytes_at(&c->packed, p->at), p->bytes);
        MT_TRY(mt_stmt_run(s, err));
    }
    return MT_OK;
}

static enum mt_status write_keyframes(struct mt_writer *w, struct mt_err *err)
{
    struct mt_stmt *s;
    const struct mt_history *h = &w->r->history;
    for (size_t i = 0; i < h->keyframes.n; i++) {
        const struct mt_live_keyframe *m = &h->keyframes.v[i];
        MT_TRY(mt_db_query(w->db, MT_Q_KEYFRAME_ADD, &s, err));
        mt_stmt_bind(s, "iiib", w->device + m->device, m->record, m->next,
                     bytes_at(&h->live, m->at), m->bytes);
        MT_TRY(mt_stmt_run(s, err));
    }
    return MT_OK;
}

static int64_t node_id(const struct mt_writer *w, uint32_t node)
{
    return node == MT_NONE ? 0 : w->node + node;
}

static enum mt_status write_moment(struct mt_writer *w, size_t position, int64_t device,
                                   int64_t t_ns, enum mt_moment_kind kind, struct mt_err *err)
{
    struct mt_stmt *s;
    MT_TRY(mt_db_query(w->db, MT_Q_MOMENT_ADD, &s, err));
    mt_stmt_bind(s, "iiIii", w->run, (int64_t)position, device, t_ns - w->r->start_ns,
                 (int64_t)kind);
    return mt_stmt_run(s, err);
}

/* Those of the reader, else the ends of steps. */
static enum mt_status write_moments(struct mt_writer *w, struct mt_err *err)
{
    const struct mt_recording *r = w->r;
    for (size_t i = 0; i < r->steps.n; i++)
        MT_TRY(write_moment(w, i, INT64_MIN, r->steps.v[i].end_ns, MT_MOMENT_STEP, err));
    for (size_t i = 0; i < r->history.moments.n && !r->steps.n; i++) {
        const struct mt_moment *m = &r->history.moments.v[i];
        MT_TRY(write_moment(w, i, w->device + m->device, m->t_ns, m->kind, err));
    }
    return MT_OK;
}

/* ---- further figures of call paths: those of nodes that follow each other are a row ---- */

struct extra_rows {
    struct mt_writer *w;
    const struct mt_node_extra **order;
    size_t at;
    struct mt_buf text;
};

static int extra_cmp(const void *a, const void *b)
{
    const struct mt_node_extra *x = *(const struct mt_node_extra *const *)a;
    const struct mt_node_extra *y = *(const struct mt_node_extra *const *)b;
    uint32_t m = x->node + 1, n = y->node + 1; /* 0: no call path */
    if (x->device != y->device)
        return (int)x->device - (int)y->device;
    if (x->figure != y->figure)
        return x->figure < y->figure ? -1 : 1;
    return m < n ? -1 : m > n;
}

static bool are_in_order(const struct extra_rows *rows)
{
    for (size_t i = 1; i < rows->w->r->extras.n; i++)
        if (extra_cmp(&rows->order[i - 1], &rows->order[i]) > 0)
            return false;
    return true;
}

/* Where the row ends that begins at a place. Few nodes without a figure cost less than a row. */
static size_t end_of_extras(const struct extra_rows *rows, size_t at)
{
    enum { GAP_MOST = 8, NODES_MOST = 1 << 8 }; /* many such rows fit into a page */
    const struct mt_node_extra *const *v = rows->order, *first = v[at];
    while (++at < rows->w->r->extras.n && v[at]->device == first->device &&
           v[at]->figure == first->figure && first->node != MT_NONE &&
           v[at]->node - v[at - 1]->node <= GAP_MOST && v[at]->node - first->node < NODES_MOST)
        ;
    return at;
}

static void extra_row(void *closure, uint64_t row, int64_t *cells)
{
    struct extra_rows *rows = closure;
    const struct mt_node_extra *const *v = rows->order, *first = v[rows->at];
    const size_t end = end_of_extras(rows, rows->at);
    (void)row;
    cells[0] = rows->w->device + first->device;
    cells[1] = rows->w->string_id[first->figure];
    cells[2] = node_id(rows->w, first->node);
    mt_buf_clear(&rows->text);
    for (uint32_t node = first->node; rows->at < end; rows->at++, node++) {
        for (; node < v[rows->at]->node; node++)
            mt_list_text_add(&rows->text, 0);
        mt_list_text_add(&rows->text, v[rows->at]->value);
    }
    mt_list_text_end(&rows->text);
}

static enum mt_status write_extras(struct mt_writer *w, struct mt_err *err)
{
    const size_t n = w->r->extras.n;
    struct extra_rows rows = {.w = w, .order = mt_alloc((n + 1) * sizeof *rows.order)};
    enum mt_status st = MT_OK;
    uint64_t row_n = 0;
    int64_t id;
    for (size_t i = 0; i < n; i++) {
        rows.order[i] = &w->r->extras.v[i];
        MT_TRY_OUT(mt_store_string(w, rows.order[i]->figure, &id, err));
    }
    if (!are_in_order(&rows)) /* mostly they are */
        qsort(rows.order, n, sizeof *rows.order, extra_cmp);
    for (size_t at = 0; at < n; at = end_of_extras(&rows, at))
        row_n++;
    st = mt_db_insert_texts(w->db, MT_Q_NODE_EXTRA_ADD_ALL, row_n, extra_row, &rows.text, &rows,
                            err);
out:
    mt_buf_free(&rows.text);
    free(rows.order);
    return st;
}

/* ---- what call paths hold at moments ---- */

/* Changes with a moment that there is: nothing is held after the last step, for no other ends. */
static bool is_holding(const struct mt_writer *w, const struct mt_retained_change *c)
{
    return c->step < (int64_t)(w->r->steps.n ? w->r->steps.n : w->r->history.moments.n);
}

struct holding_rows {
    struct mt_writer *w;
    size_t at; /* in holdings */
    struct mt_buf text;
};

/* The next site that holds something: where its changes begin; *end: where they end. They stand
 * behind each other. */
static size_t next_site(const struct mt_writer *w, size_t at, size_t *end)
{
    const struct mt_retained *all = &w->r->history.holdings;
    while (at < all->all.n && !is_holding(w, &all->all.v[at]))
        at++;
    for (*end = at; *end < all->all.n && all->all.v[*end].site == all->all.v[at].site;)
        ++*end;
    return at;
}

/* The bytes of a block if each of these changes has the same, be it on average; else 0. */
static int64_t size_of_each(const struct mt_retained_change *v, size_t n)
{
    const int64_t size = v->blocks_n ? v->bytes / v->blocks_n : 0;
    for (size_t i = 0; i < n; i++)
        if (size <= 0 || v[i].bytes % size || v[i].bytes / size != v[i].blocks_n)
            return 0;
    return size;
}

static void holding_row(void *closure, uint64_t row, int64_t *cells)
{
    struct holding_rows *rows = closure;
    struct mt_writer *w = rows->w;
    const struct mt_history *h = &w->r->history;
    size_t end, i = next_site(w, rows->at, &end);
    const struct mt_retained_change *v = h->holdings.all.v;
    const struct mt_site *site = &h->sites.v[v[i].site];
    /* of sites of one node each has a size of its own */
    const int64_t size = site->bytes ? site->bytes : size_of_each(v + i, end - i);
    (void)row;
    cells[0] = w->device + site->device;
    cells[1] = node_id(w, site->node);
    cells[2] = size;
    mt_buf_clear(&rows->text);
    for (int64_t last = 0; i < end; i++) {
        const struct mt_held_change c = {v[i].step, v[i].bytes, v[i].blocks_n};
        if (!is_holding(w, &v[i]))
            continue;
        mt_held_text_add(&rows->text, size, &c, last);
        last = c.moment;
    }
    mt_list_text_end(&rows->text);
    rows->at = end;
}

static enum mt_status write_holdings(struct mt_writer *w, struct mt_err *err)
{
    struct holding_rows rows = {.w = w};
    const size_t all_n = w->r->history.holdings.all.n;
    uint64_t n = 0;
    for (size_t end, at = 0; (at = next_site(w, at, &end)) < all_n; at = end)
        n++;
    enum mt_status st =
        mt_db_insert_texts(w->db, MT_Q_HOLDING_ADD_ALL, n, holding_row, &rows.text, &rows, err);
    mt_buf_free(&rows.text);
    return st;
}

static void size_row(void *closure, uint64_t row, int64_t *cells)
{
    const struct mt_writer *w = closure;
    const struct mt_size_stat *s = &w->r->size_stats.v[row];
    const int64_t all[] = {w->device + s->device, mt_size_least(s->class), mt_size_most(s->class),
                           s->self.alloc_b,       s->self.freed_b,         s->self.alloc_n,
                           s->self.at_peak_b,     s->self.at_end_b,        s->self.at_peak_n,
                           s->self.at_end_n};
    memcpy(cells, all, sizeof all);
}

static enum mt_status write_sizes(struct mt_writer *w, struct mt_err *err)
{
    return mt_db_insert_rows(w->db, MT_Q_SIZE_STAT_ADD_ALL, w->r->size_stats.n, size_row, w, err);
}

static enum mt_status write_max_lifetime(struct mt_writer *w, struct mt_err *err)
{
    struct mt_stmt *s;
    const struct mt_history *h = &w->r->history;
    for (size_t i = 0; i < h->max_lifetime.n; i++) {
        const struct mt_max_lifetime *p = &h->max_lifetime.v[i];
        const struct mt_site *site = &h->sites.v[p->site];
        MT_TRY(mt_db_query(w->db, MT_Q_MAX_LIFETIME_ADD, &s, err));
        mt_stmt_bind(s, "iiii", w->device + site->device, node_id(w, site->node), p->life,
                     p->alloc_step);
        MT_TRY(mt_stmt_run(s, err));
    }
    return MT_OK;
}

static enum mt_status write_kept_gradients(struct mt_writer *w, struct mt_err *err)
{
    struct mt_stmt *s;
    const struct mt_history *h = &w->r->history;
    for (size_t i = 0; i < h->kept_gradients.n; i++) {
        const struct mt_kept_gradient *g = &h->kept_gradients.v[i];
        MT_TRY(mt_db_query(w->db, MT_Q_KEPT_GRADIENT_ADD, &s, err));
        mt_stmt_bind(s, "iiii", w->device + g->device, node_id(w, g->node), g->step, g->bytes);
        MT_TRY(mt_stmt_run(s, err));
    }
    return MT_OK;
}

static enum mt_status write_unseen(struct mt_writer *w, struct mt_err *err)
{
    struct mt_stmt *s;
    for (size_t i = 0; i < w->r->unseen.n; i++) {
        const struct mt_unseen *u = &w->r->unseen.v[i];
        MT_TRY(mt_db_query(w->db, MT_Q_UNSEEN_ADD, &s, err));
        mt_stmt_bind(s, "iiii", w->device + u->device, node_id(w, u->node), u->bytes, u->n);
        MT_TRY(mt_stmt_run(s, err));
    }
    return MT_OK;
}

enum mt_status mt_store_history(struct mt_writer *w, struct mt_err *err)
{
    MT_TRY(write_curve(w, err));
    MT_TRY(write_keyframes(w, err));
    MT_TRY(write_moments(w, err));
    MT_TRY(write_holdings(w, err));
    MT_TRY(write_sizes(w, err));
    MT_TRY(write_extras(w, err));
    MT_TRY(write_max_lifetime(w, err));
    MT_TRY(write_kept_gradients(w, err));
    return write_unseen(w, err);
}
