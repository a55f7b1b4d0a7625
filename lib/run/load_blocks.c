/* Blocks as sums of the ops that they are allocated and freed in. */
#include "lib/base/wrap.h"
#include "lib/run/category_words.h"
#include "lib/run/load_parts.h"

#include "gen/queries.h"

bool mt_op_step_wanted(const struct mt_op_loader *l, int64_t step)
{
    return !l->filter->by_step ||
           (step != INT64_MIN && step >= l->filter->steps.from && step <= l->filter->steps.to);
}

static struct mt_sums *sums_of_op(struct mt_op_loader *l, uint64_t op, int64_t place,
                                  uint32_t thread)
{
    if (op >= (uint64_t)l->run->op_n)
        return NULL; /* a damaged database */
    for (uint32_t at = l->sums_of[op]; at; at = l->sums.v[at - 1].next)
        if (l->sums.v[at - 1].place == place)
            return &l->sums.v[at - 1].sums;
    struct mt_op_sums *new = mt_vec_push(&l->sums);
    *new = (struct mt_op_sums){
        .op = (uint32_t)op, .thread = thread, .place = (int32_t)place, .next = l->sums_of[op]};
    l->sums_of[op] = (uint32_t)l->sums.n;
    return &new->sums;
}

/* What keys ask of a block that no op says; else MT_UNKNOWN, MT_CATEGORY_NONE and MT_NONE. */
struct of_block {
    int64_t size_b;
    uint8_t category, rule;
    uint32_t tensor;
    uint32_t
        own; /* as of mt_origin: that of the call path that allocated it, wherever it is freed */
};

static uint32_t own_of(struct mt_op_loader *l, uint64_t node)
{
    if (!l->by_own)
        return 0;
    uint32_t own = node < l->t->nodes.n ? mt_own_of_node(&l->own, l->t, (uint32_t)node) : MT_NONE;
    return own == MT_NONE ? MT_NONE : own + 1;
}

/* What the rule of a block tells of what is asked for. */
static void ask_rule(const struct mt_op_loader *l, uint8_t rule, struct of_block *b)
{
    b->category = l->asked[MT_BY_CATEGORY] ? mt_category_of_rule[rule] : (uint8_t)MT_CATEGORY_NONE;
    b->rule = l->asked[MT_BY_WHY] ? rule : (uint8_t)MT_CATEGORY_NO_RULE;
}

/* Of a row of load_allocs. */
static enum mt_status block_of(struct mt_op_loader *l, const struct mt_stmt *s, struct of_block *b,
                               struct mt_err *err)
{
    *b = (struct of_block){.size_b = l->asked[MT_BY_SIZE] ? mt_stmt_int(s, 0) : MT_UNKNOWN,
                           .tensor = MT_NONE};
    if (l->by_own)
        b->own = own_of(l, mt_stmt_index(s, 9, l->run->node_first));
    ask_rule(l, mt_load_rule(s, 11, mt_stmt_kind(s, 1) == MT_VALUE_NULL), b);
    if (!l->asked[MT_BY_TENSOR] && !l->asked[MT_BY_DTYPE])
        return MT_OK;
    return mt_load_tensor(l->db, l->t, s, 12, &b->tensor, err);
}

/* What is outside ops (thread MT_NONE: allocated unseen), or was freed unseen, by what the keys ask
 * for. */
static struct mt_sums *sums_outside(struct mt_op_loader *l, uint32_t thread, int64_t step,
                                    bool unseen, const struct of_block *b)
{
    struct mt_tree *t = l->t;
    const struct {
        int64_t step, size_b;
        uint64_t unseen; /* as bytes a key, without padding */
        uint32_t thread, tensor, own;
        uint16_t category, rule;
    } key = {l->asked[MT_BY_STEP] ? step : INT64_MIN,
             b->size_b,
             unseen,
             l->asked[MT_BY_THREAD] ? thread : MT_NONE,
             unseen ? MT_NONE : b->tensor,
             unseen ? 0 : b->own,
             unseen ? MT_CATEGORY_NONE : b->category,
             unseen ? MT_CATEGORY_NO_RULE : b->rule};
    uint32_t at = mt_strtab_add(&l->outside, (const char *)&key, sizeof key);
    if (at == t->outside.n)
        *mt_vec_push(&t->outside) = (struct mt_outside){.thread = key.thread,
                                                        .step = key.step,
                                                        .size_b = key.size_b,
                                                        .category = (uint8_t)key.category,
                                                        .rule = (uint8_t)key.rule,
                                                        .tensor = key.tensor,
                                                        .own = key.own,
                                                        .unseen = unseen};
    return &t->outside.v[at].sums;
}

int64_t mt_op_step_number(const struct mt_op_loader *l, int64_t place)
{
    return place < 0 ? INT64_MIN : l->steps.all.v[place].number;
}

/* Recordings of call paths have no op around a block, and sizes are not those of ops: its node in
 * that step (its place, -1 = none) on that thread is the item. */
static uint32_t path_item(struct mt_op_loader *l, uint32_t node, int64_t place, uint32_t thread,
                          const struct of_block *b)
{
    struct mt_tree *t = l->t;
    uint32_t inner = MT_NONE, wanted = MT_NONE;
    for (uint32_t at = node; at != MT_NONE; at = t->nodes.v[at].parent) {
        const struct {
            int64_t place, size_b;
            uint32_t category, rule; /* as bytes a key, without padding */
            uint32_t node, thread, tensor, own;
        } key = {place, b->size_b, b->category, b->rule, at, thread, b->tensor, b->own};
        uint32_t item = mt_strtab_add(&l->path_items, (const char *)&key, sizeof key);
        bool known = item < t->items.n;
        if (!known) {
            struct mt_item *new = mt_vec_push(&t->items);
            *new = mt_item_of_node(at);
            new->thread = thread;
            new->step = mt_op_step_number(l, place);
            new->size_b = key.size_b;
            new->category = b->category;
            new->rule = b->rule;
            new->tensor = b->tensor;
            new->own = b->own;
        }
        if (inner != MT_NONE)
            t->items.v[inner].parent = item;
        wanted = wanted == MT_NONE ? item : wanted;
        inner = item;
        if (known)
            break;
    }
    return wanted;
}

/* Where one end of a block's life is counted, in the step under way then; NULL: nowhere. */
static struct mt_sums *side(struct mt_op_loader *l, const struct mt_stmt *s,
                            const struct of_block *block, int column, int node_column)
{
    if (mt_stmt_kind(s, column) == MT_VALUE_NULL)
        return NULL;
    enum { FREED = 4 };
    int64_t place = l->by_step ? mt_steps_under_way(&l->steps, mt_stmt_int(s, column)) : -1;
    int64_t step = mt_op_step_number(l, place);
    if (mt_stmt_kind(s, column + 2) == MT_VALUE_NULL)
        return l->filter->thread || !mt_op_step_wanted(l, step)
                   ? NULL
                   : sums_outside(l, MT_NONE, step, column == FREED, block);
    uint32_t thread = mt_tree_thread(l->t, mt_stmt_int(s, column + 2));
    if (thread == MT_NONE || !l->wanted[thread] || !mt_op_step_wanted(l, step))
        return NULL;
    if (mt_stmt_kind(s, column + 1) != MT_VALUE_NULL && !l->by_block)
        return sums_of_op(l, mt_stmt_index(s, column + 1, l->run->op_first), place, thread);
    uint64_t node = mt_stmt_index(s, node_column, l->run->node_first);
    if (node >= l->t->nodes.n)
        return sums_outside(l, thread, step, false, block);
    uint32_t item = path_item(l, (uint32_t)node, place, thread, block);
    return &l->t->items.v[item].self;
}

void mt_sums_add_block(struct mt_sums *to, const struct mt_stmt *s, const struct mt_run_device *d)
{
    int64_t bytes = mt_stmt_int(s, 0);
    bool freed = mt_stmt_kind(s, 4) != MT_VALUE_NULL;
    bool at_peak =
        mt_stmt_int(s, 7) <= d->peak_record && (!freed || mt_stmt_int(s, 8) > d->peak_record);
    mt_wrap_inc(&to->alloc_b, bytes);
    to->alloc_n++;
    mt_wrap_inc(&to->at_end_b, freed ? 0 : bytes);
    to->at_end_n += !freed;
    mt_wrap_inc(&to->at_peak_b, at_peak ? bytes : 0);
    to->at_peak_n += at_peak;
}

static enum mt_status read_allocs(struct mt_op_loader *l, const struct mt_run_device *d,
                                  struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(l->db, l->by_block ? MT_Q_LOAD_ALLOCS_IN : MT_Q_LOAD_ALLOCS, &s, err));
    mt_stmt_bind(s, "iiiii", l->run->alloc_first, l->run->alloc_first + l->run->alloc_n, d->id,
                 l->window.from_ns, l->window.to_ns);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        struct of_block block;
        bool older = mt_stmt_kind(s, 1) == MT_VALUE_NULL;
        if (!mt_category_in(d->only, mt_load_category(s, 11, older)))
            continue;
        MT_TRY(block_of(l, s, &block, err));
        struct mt_sums *allocated = side(l, s, &block, 1, 9);
        if (allocated)
            mt_sums_add_block(allocated, s, d);
        struct mt_sums *died = side(l, s, &block, 4, 10);
        if (died)
            mt_wrap_inc(&died->freed_b, mt_stmt_int(s, 0));
    }
}

/* Blocks that are live from beginning to end: in no step, on no thread. */
static enum mt_status read_older(struct mt_op_loader *l, const struct mt_run_device *d,
                                 struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(l->db, MT_Q_LOAD_OLDER, &s, err));
    mt_stmt_bind(s, "iii", l->run->alloc_first, l->run->alloc_first + l->run->alloc_n, d->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        uint64_t node = mt_stmt_index(s, 1, l->run->node_first);
        if (node >= l->t->nodes.n)
            continue;
        int64_t bytes = mt_stmt_int(s, 0);
        uint8_t rule = mt_load_rule(s, 2, false);
        if (!mt_category_in(d->only, mt_category_of_rule[rule]))
            continue;
        struct of_block block = {.size_b = l->asked[MT_BY_SIZE] ? bytes : MT_UNKNOWN,
                                 .tensor = MT_NONE,
                                 .own = own_of(l, node)};
        ask_rule(l, rule, &block);
        uint32_t item = path_item(l, (uint32_t)node, -1, MT_NONE, &block); /* may move the items */
        struct mt_sums *sums = &l->t->items.v[item].self;
        mt_wrap_inc(&sums->at_peak_b, bytes);
        mt_wrap_inc(&sums->at_end_b, bytes);
        sums->at_peak_n++;
        sums->at_end_n++;
    }
}

void mt_tree_add_totals(struct mt_tree *t)
{
    for (size_t i = 0; i < t->items.n; i++)
        t->items.v[i].total = t->items.v[i].self;
    for (size_t i = t->items.n; i-- > 0;)
        if (t->items.v[i].parent != MT_NONE)
            mt_sums_add(&t->items.v[t->items.v[i].parent].total, &t->items.v[i].total);
}

enum mt_status mt_load_blocks(struct mt_op_loader *l, const struct mt_run_device *device,
                              struct mt_err *err)
{
    MT_TRY(read_allocs(l, device, err));
    if (device->older_b && !l->filter->thread && !l->filter->by_step)
        MT_TRY(read_older(l, device, err));
    mt_tree_preorder(l->t); /* parents of path items may stand behind them */
    mt_tree_add_totals(l->t);
    return MT_OK;
}
