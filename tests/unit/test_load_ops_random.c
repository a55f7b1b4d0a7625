/* lib/run/load_ops.c, group_stream.c: figures of ops made at random, against the rule applied op by
 * op and record by record. */
#include "tests/unit/stored.h"
#include <string.h>

#define OK(call) assert_int_equal((call), MT_OK)

struct random {
    const char *name;
    uint64_t seed;
    enum mt_group_key key;
    int64_t from, to; /* steps; to < 0: all */
};

static const struct random randoms[] = {
    {"at random by name", 1, MT_BY_NAME, 0, -1},     {"at random by shape", 2, MT_BY_SHAPE, 0, -1},
    {"at random by thread", 3, MT_BY_THREAD, 0, -1}, {"at random by step", 4, MT_BY_STEP, 0, -1},
    {"some steps by name", 5, MT_BY_NAME, 1, 2},     {"some steps by shape", 6, MT_BY_SHAPE, 1, 3},
    {"one step by step", 7, MT_BY_STEP, 2, 2},       {"most steps by name", 8, MT_BY_NAME, 1, 9},
};

static uint32_t next_random(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

/* Steps of 100 ns with pauses of 50 between them, ops of any length, and their memory. */
static char *make_text(uint64_t seed)
{
    struct mt_buf text = {0};
    for (int step = 0; step < 6; step++)
        mt_buf_addf(&text, "9 annotation %d %d ProfilerStep#%d\n", step * 150, step * 150 + 100,
                    step);
    for (int i = 0; i < 120; i++) {
        uint32_t start = next_random(&seed, 900), dur = next_random(&seed, 10);
        dur = 1 + next_random(&seed, 1u << dur);
        mt_buf_addf(&text, "%u op %u %u %c | [[%u]]\n", 1 + next_random(&seed, 2), start,
                    start + dur, 'a' + (int)next_random(&seed, 4), next_random(&seed, 3));
    }
    for (int i = 0; i < 150; i++) {
        uint32_t t = next_random(&seed, 1000);
        mt_buf_addf(&text, "%u mem %u %u %x cpu\n", 1 + next_random(&seed, 2), t, 1 + i, 1 + i);
    }
    return text.s;
}

/* What the rule needs to know of an op. */
struct judged {
    const char *key;
    bool kept;
    uint32_t parent;
    int64_t start_ns, end_ns;
};

static int64_t step_at(const struct mt_recording *r, int64_t t_ns)
{
    for (size_t i = 0; i < r->steps.n; i++)
        if (t_ns >= r->steps.v[i].start_ns && t_ns < r->steps.v[i].end_ns)
            return r->steps.v[i].number;
    return -1;
}

static const char *step_name(int64_t step)
{
    static const char *const steps[] = {"[no step]", "0", "1", "2", "3", "4", "5"};
    return steps[step + 1];
}

static bool is_wanted(const struct random *row, int64_t step)
{
    return row->to < 0 || (step >= row->from && step <= row->to);
}

static struct judged judge(const struct mt_recording *r, const struct random *row, uint32_t i,
                           const struct judged *before)
{
    static const char *const threads[] = {"9", "1", "2"};
    uint32_t thread;
    const struct mt_op *op = op_at(r, i, &thread);
    int64_t step = step_at(r, op->start_ns);
    const char *const keys[MT_BY_N] = {
        [MT_BY_NAME] = mt_strtab_get(&r->strings, r->frames.v[r->labels.v[op->label].frame].name),
        [MT_BY_SHAPE] = op->args == MT_NONE ? "[no shape]"
                                            : mt_strtab_get(&r->strings, r->args.v[op->args].shape),
        [MT_BY_THREAD] = threads[r->threads.v[thread].tid % 9],
        [MT_BY_STEP] = step_name(step)};
    struct judged j = {keys[row->key], is_wanted(row, step), op->parent, op->start_ns, op->end_ns};
    if (j.parent != MT_NONE && before[j.parent].end_ns < j.end_ns)
        j.end_ns = before[j.parent].end_ns;
    return j;
}

/* Whether one of the ops from `op` outwards, as far as they are kept, has the key. */
static bool chain_has(const struct judged *ops, uint32_t op, const char *key)
{
    for (; op != MT_NONE && ops[op].kept; op = ops[op].parent)
        if (strcmp(ops[op].key, key) == 0)
            return true;
    return false;
}

/* A record counts in the step under way at its time, also where its op began in another: there
 * it stands below the ops around, as an op of its own would; by step, below none. */
static void judge_record(const struct mt_recording *r, const struct random *row,
                         const struct judged *ops, const struct mt_record *rec, const char *group,
                         int64_t *self_b, int64_t *all_b)
{
    int64_t step = step_at(r, rec->t_ns);
    if (rec->op == MT_NONE || !is_wanted(row, step))
        return;
    const struct judged *op = &ops[rec->op];
    bool stray = (row->to >= 0 || row->key == MT_BY_STEP) && step != step_at(r, op->start_ns);
    bool own = strcmp(stray && row->key == MT_BY_STEP ? step_name(step) : op->key, group) == 0;
    bool around =
        row->key != MT_BY_STEP && op->kept && chain_has(ops, stray ? op->parent : rec->op, group);
    *self_b += own ? rec->bytes : 0;
    *all_b += own || around ? rec->bytes : 0;
}

static void judge_group(const struct mt_recording *r, const struct random *row,
                        const struct judged *ops, const struct mt_group *g)
{
    int64_t calls = 0, self_b = 0, all_b = 0, time = 0, self_time = 0;
    for (uint32_t i = 0; i < r->op_n; i++) {
        const struct judged *op = &ops[i];
        uint32_t parent = op->parent != MT_NONE && ops[op->parent].kept ? op->parent : MT_NONE;
        bool in = op->kept && strcmp(op->key, g->key[0]) == 0;
        calls += in;
        time += in && !chain_has(ops, parent, g->key[0]) ? op->end_ns - op->start_ns : 0;
        self_time += in ? op->end_ns - op->start_ns : 0;
        if (parent != MT_NONE && strcmp(ops[parent].key, g->key[0]) == 0)
            self_time -= op->end_ns - op->start_ns;
    }
    for (size_t i = 0; i < r->records.n; i++)
        judge_record(r, row, ops, &r->records.v[i], g->key[0], &self_b, &all_b);
    assert_int_equal(g->calls_n, calls);
    assert_int_equal(g->time_ns, time);
    assert_int_equal(g->self_time_ns, self_time);
    assert_int_equal(g->self.alloc_b, self_b);
    assert_int_equal(g->total.alloc_b, all_b);
}

static void at_random(void **state)
{
    const struct random *row = *state;
    const struct mt_op_filter filter = {
        .by_step = row->to >= 0, .steps = {row->from, row->to}, .keys = &row->key, .key_n = 1};
    struct mt_err err = MT_ERR_INIT;
    struct mt_tree tree = {0};
    struct mt_groups groups = {0};
    struct stored o;
    char *text = make_text(row->seed);
    int64_t kept = 0, told = 0;
    stored_open(&o, text);
    struct judged *ops = mt_alloc(o.rec.op_n * sizeof *ops);
    for (uint32_t i = 0; i < o.rec.op_n; i++) {
        ops[i] = judge(&o.rec, row, i, ops);
        kept += ops[i].kept;
    }
    OK(mt_group_ops(o.db, &o.run, &o.device, &filter, &tree, &groups, &err));
    for (size_t i = 0; i < groups.rows.n; i++) {
        told += groups.rows.v[i].calls_n;
        if (!groups.rows.v[i].explicit_row)
            judge_group(&o.rec, row, ops, &groups.rows.v[i]);
    }
    assert_int_equal(told, kept);
    assert_in_range(kept, 10, 126);
    free(ops);
    free(text);
    mt_groups_free(&groups);
    mt_tree_free(&tree);
    stored_close(&o);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, at_random, randoms);
    return ROWS_RUN(&tests, "ops at random");
}
