/* lib/run/load_ops.c, load_blocks.c, group_stream.c: figures of single ops by what they are grouped
 * by, all of them or those of some steps or a thread. */
#include "tests/unit/stored.h"
#include <inttypes.h>

#define OK(call) assert_int_equal((call), MT_OK)

struct known {
    const char *name, *text;
    const char *thread, *steps; /* NULL: all */
    enum mt_group_key keys[2];
    int key_n;
    /* KEY (KEY): calls, self +allocated -freed in self time, all +allocated -freed in time */
    const char *want;
};

#define RECURSION                                                                                  \
    "1 op 0 100 a | [[2]]\n"                                                                       \
    "1 op 10 60 a | [[3]]\n"                                                                       \
    "1 op 20 30 a | [[2]]\n"                                                                       \
    "1 op 110 120 b\n"                                                                             \
    "1 op 130 170 a | [[3]]\n"                                                                     \
    "1 mem 25 8 10 cpu\n"                                                                          \
    "1 mem 50 4 20 cpu\n"                                                                          \
    "1 mem 90 2 30 cpu\n"                                                                          \
    "1 mem 140 -8 10 cpu\n"

/* Steps on a thread of their own, so that ops of the other one may go over their ends. Between 100
 * and 200 is no step. */
#define STEPS                                                                                      \
    "2 annotation 0 100 ProfilerStep#0\n"                                                          \
    "2 annotation 200 300 ProfilerStep#1\n"                                                        \
    "2 annotation 300 400 ProfilerStep#2\n"

#define BEFORE                                                                                     \
    STEPS "1 op 40 380 z\n"                                                                        \
          "1 op 50 390 a\n" /* until 380 */                                                        \
          "1 op 310 385 b\n"                                                                       \
          "1 op 320 382 c\n"                                                                       \
          "1 op 381 399 d\n"                                                                       \
          "1 mem 60 1 10 cpu\n"                                                                    \
          "1 mem 330 2 20 cpu\n"                                                                   \
          "1 mem 340 -1 10 cpu\n"                                                                  \
          "1 mem 390 4 30 cpu\n"

#define GAP                                                                                        \
    STEPS "1 op 50 290 a\n"                                                                        \
          "1 op 110 280 b\n"                                                                       \
          "1 op 210 270 a\n"                                                                       \
          "1 op 282 288 a\n"                                                                       \
          "1 mem 220 8 10 cpu\n"                                                                   \
          "1 mem 275 16 20 cpu\n"                                                                  \
          "1 mem 285 4 30 cpu\n"

#define FORWARD                                                                                    \
    STEPS "1 op<7 50 350 back\n"                                                                   \
          "1 op 60 70 helper\n"                                                                    \
          "1 op 310 320 helper\n"                                                                  \
          "3 op#7 10 20 conv\n"                                                                    \
          "1 mem 65 8 10 cpu\n"                                                                    \
          "1 mem 315 2 20 cpu\n"

#define OUTSIDE                                                                                    \
    STEPS "1 op 250 260 a\n"                                                                       \
          "1 mem 50 1 10 cpu\n"                                                                    \
          "3 mem 60 2 20 cpu\n"                                                                    \
          "1 mem 150 4 30 cpu\n"                                                                   \
          "3 mem 210 -1 10 cpu\n"                                                                  \
          "1 mem 220 8 40 cpu\n"                                                                   \
          "1 mem 230 16 50 cpu\n"                                                                  \
          "1 mem 255 32 60 cpu\n"                                                                  \
          "1 mem 350 64 70 cpu\n"

static const struct known rows[] = {
    {"nested ops of one name are told apart by shape",
     RECURSION,
     NULL,
     NULL,
     {MT_BY_SHAPE},
     1,
     "[[2]]: 2, self +10 -0 in 60, all +14 -0 in 100\n"
     "[[3]]: 2, self +4 -8 in 80, all +12 -8 in 90\n"
     "[no shape]: 1, self +0 -0 in 10, all +0 -0 in 10\n"},
    {"where shapes are not asked for, a call of itself is inside",
     RECURSION,
     NULL,
     NULL,
     {MT_BY_NAME, MT_BY_THREAD},
     2,
     "a 1: 4, self +14 -8 in 140, all +14 -8 in 140\n"
     "b 1: 1, self +0 -0 in 10, all +0 -0 in 10\n"},
    {"a top op is called once, whatever runs below it",
     RECURSION,
     NULL,
     NULL,
     {MT_BY_TOP, MT_BY_THREAD},
     2,
     "a 1: 2, self +14 -8 in 140, all +14 -8 in 140\n"
     "b 1: 1, self +0 -0 in 10, all +0 -0 in 10\n"},
    {"an op of another thread is not inside",
     "1 op 0 100 a\n2 op 10 20 a\n2 mem 15 8 10 cpu\n",
     NULL,
     NULL,
     {MT_BY_NAME, MT_BY_THREAD},
     2,
     "a 1: 1, self +0 -0 in 100, all +0 -0 in 100\n"
     "a 2: 1, self +8 -0 in 10, all +8 -0 in 10\n"},
    {"all steps: ops are cut at what is around them",
     BEFORE,
     "1",
     NULL,
     {MT_BY_NAME},
     1,
     "z: 1, self +0 -0 in 10, all +3 -1 in 340\n"
     "a: 1, self +1 -0 in 260, all +3 -1 in 330\n"
     "b: 1, self +0 -0 in 10, all +2 -1 in 70\n"
     "c: 1, self +2 -1 in 60, all +2 -1 in 60\n"
     "d: 1, self +4 -0 in 18, all +4 -0 in 18\n"},
    {"frames end where a scope begins that outlives them",
     "1 python 0 100 train\n1 python 10 20 enter\n1 python 12 18 new\n1 annotation 14 90 s\n"
     "1 op 30 40 a\n1 mem 16 8 10 cpu\n1 mem 35 4 20 cpu\n",
     "1",
     NULL,
     {MT_BY_NAME},
     1,
     "[Python]: 3, self +0 -0 in 24, all +12 -0 in 100\n"
     "s: 1, self +8 -0 in 66, all +12 -0 in 76\n"
     "a: 1, self +4 -0 in 10, all +4 -0 in 10\n"},
    {"ops are cut at one that began before the step",
     BEFORE,
     "1",
     "2",
     {MT_BY_NAME},
     1,
     "b: 1, self +0 -0 in 10, all +2 -1 in 70\n"
     "c: 1, self +2 -1 in 60, all +2 -1 in 60\n"
     "d: 1, self +4 -0 in 18, all +4 -0 in 18\n"},
    {"what runs in an op behind its step is not its own time",
     BEFORE,
     "1",
     "0",
     {MT_BY_NAME},
     1,
     "z: 1, self +0 -0 in 10, all +1 -0 in 340\n"
     "a: 1, self +1 -0 in 260, all +1 -0 in 330\n"},
    {"bytes behind the step",
     STEPS "1 op 90 250 a\n1 mem 150 8 10 cpu\n1 mem 210 -8 10 cpu\n",
     "1",
     "0",
     {MT_BY_STEP},
     1,
     "0: 1, self +0 -0 in 160, all +0 -0 in 160\n"},
    {"they count in the step under way, though the op began before it",
     STEPS "1 op 90 250 a\n1 mem 150 8 10 cpu\n1 mem 210 -8 10 cpu\n",
     "1",
     "1",
     {MT_BY_NAME},
     1,
     "a: 0, self +0 -8 in 0, all +0 -8 in 0\n"},
    {"and in no other step below what is around it",
     STEPS "1 op 80 290 b\n1 op 90 250 a\n1 mem 150 8 10 cpu\n1 mem 210 16 11 cpu\n",
     "1",
     NULL,
     {MT_BY_NAME, MT_BY_STEP},
     2,
     "b 0: 1, self +0 -0 in 50, all +0 -0 in 210\n"
     "a 1: 0, self +16 -0 in 0, all +16 -0 in 0\n"
     "a [no step]: 0, self +8 -0 in 0, all +8 -0 in 0\n"
     "a 0: 1, self +0 -0 in 160, all +0 -0 in 160\n"},
    {"a step in which no op starts",
     STEPS "1 op 90 250 a\n1 mem 150 8 10 cpu\n",
     "1",
     "1",
     {MT_BY_NAME},
     1,
     ""},
    {"below an op that is left out a tree begins anew",
     GAP,
     "1",
     "0..1",
     {MT_BY_NAME},
     1,
     "a: 3, self +12 -0 in 130, all +12 -0 in 300\n"
     "b: 0, self +16 -0 in 0, all +16 -0 in 0\n"},
    {"with it, all is one tree",
     GAP,
     "1",
     NULL,
     {MT_BY_NAME},
     1,
     "a: 3, self +12 -0 in 130, all +28 -0 in 240\n"
     "b: 1, self +16 -0 in 110, all +24 -0 in 170\n"},
    {"a tree is told apart by steps",
     GAP,
     "1",
     NULL,
     {MT_BY_STEP},
     1,
     "0: 1, self +0 -0 in 64, all +0 -0 in 240\n"
     "1: 2, self +28 -0 in 66, all +28 -0 in 66\n"
     "[no step]: 1, self +0 -0 in 110, all +0 -0 in 170\n"},
    {"a forward op of a thread that is read later",
     FORWARD,
     NULL,
     NULL,
     {MT_BY_FORWARD, MT_BY_NAME},
     2,
     "[no forward op] ProfilerStep*: 3, self +0 -0 in 300, all +0 -0 in 300\n"
     "conv back: 1, self +0 -0 in 280, all +10 -0 in 300\n"
     "conv helper: 2, self +10 -0 in 20, all +10 -0 in 20\n"
     "[no forward op] conv: 1, self +0 -0 in 10, all +0 -0 in 10\n"},
    {"a forward op of a thread that is not read",
     FORWARD,
     "1",
     "0",
     {MT_BY_FORWARD},
     1,
     "conv: 2, self +8 -0 in 290, all +8 -0 in 300\n"},
    {"below a backward op that is left out",
     FORWARD,
     "1",
     "2",
     {MT_BY_FORWARD},
     1,
     "[no forward op]: 1, self +2 -0 in 10, all +2 -0 in 10\n"},
    {"outside ops by thread and step",
     OUTSIDE,
     NULL,
     NULL,
     {MT_BY_THREAD, MT_BY_STEP},
     2,
     "2 0: 1, self +0 -0 in 100, all +0 -0 in 100\n"
     "2 1: 1, self +0 -0 in 100, all +0 -0 in 100\n"
     "2 2: 1, self +0 -0 in 100, all +0 -0 in 100\n"
     "1 1: 1, self +32 -0 in 10, all +32 -0 in 10\n"
     "1 0 [outside ops]!: 0, self +1 -0 in 0, all +1 -0 in 0\n"
     "3 1 [outside ops]!: 0, self +0 -1 in 0, all +0 -1 in 0\n"
     "3 0 [outside ops]!: 0, self +2 -0 in 0, all +2 -0 in 0\n"
     "1 [no step, outside ops]!: 0, self +4 -0 in 0, all +4 -0 in 0\n"
     "1 1 [outside ops]!: 0, self +24 -0 in 0, all +24 -0 in 0\n"
     "1 2 [outside ops]!: 0, self +64 -0 in 0, all +64 -0 in 0\n"},
    {"outside ops by what is asked for",
     OUTSIDE,
     NULL,
     NULL,
     {MT_BY_NAME, MT_BY_SHAPE},
     2,
     "ProfilerStep* [no shape]: 3, self +0 -0 in 300, all +0 -0 in 300\n"
     "a [no shape]: 1, self +32 -0 in 10, all +32 -0 in 10\n"
     "[outside ops] [outside ops]!: 0, self +95 -1 in 0, all +95 -1 in 0\n"},
    {"outside ops of a thread",
     OUTSIDE,
     "1",
     NULL,
     {MT_BY_THREAD},
     1,
     "1: 1, self +32 -0 in 10, all +32 -0 in 10\n"
     "1 [outside ops]!: 0, self +93 -0 in 0, all +93 -0 in 0\n"},
    {"outside ops of a step",
     OUTSIDE,
     NULL,
     "1",
     {MT_BY_STEP},
     1,
     "1: 2, self +32 -0 in 110, all +32 -0 in 110\n"
     "1 [outside ops]!: 0, self +24 -1 in 0, all +24 -1 in 0\n"},
};

static void tell(const struct mt_groups *groups, int key_n, struct mt_buf *out)
{
    for (size_t i = 0; i < groups->rows.n; i++) {
        const struct mt_group *g = &groups->rows.v[i];
        for (int k = 0; k < key_n; k++)
            mt_buf_addf(out, "%s%s", k ? " " : "", g->key[k]);
        mt_buf_addf(out, "%s: %" PRId64 ", self +%" PRId64 " -%" PRId64, g->explicit_row ? "!" : "",
                    g->calls_n, g->self.alloc_b, g->self.freed_b);
        mt_buf_addf(out, " in %" PRId64 ", all +%" PRId64 " -%" PRId64 " in %" PRId64 "\n",
                    g->self_time_ns, g->total.alloc_b, g->total.freed_b, g->time_ns);
    }
}

static void known(void **state)
{
    const struct known *row = *state;
    struct mt_op_filter filter = {.thread = row->thread,
                                  .by_step = row->steps != NULL,
                                  .keys = row->keys,
                                  .key_n = row->key_n};
    struct mt_err err = MT_ERR_INIT;
    struct mt_tree tree = {0};
    struct mt_groups groups = {0};
    struct mt_buf text = {0};
    struct stored o;
    if (row->steps)
        OK(mt_step_range_parse(row->steps, &filter.steps, &err));
    stored_open(&o, row->text);
    OK(mt_group_ops(o.db, &o.run, &o.device, &filter, &tree, &groups, &err));
    tell(&groups, row->key_n, &text);
    assert_string_equal(text.s ? text.s : "", row->want);
    mt_buf_free(&text);
    mt_groups_free(&groups);
    mt_tree_free(&tree);
    stored_close(&o);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, known, rows);
    return ROWS_RUN(&tests, "ops");
}
