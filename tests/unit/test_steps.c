/* lib/steps.c, forward.c: where steps begin and end, and which op a backward op belongs to. */
#include "tests/unit/built.h"
#include <string.h>

static const struct told steps[] = {
    {"ProfilerStep by its number",
     "1 annotation 20 30 ProfilerStep#8\n1 annotation 0 9 ProfilerStep#7\n1 op 1 2 a",
     "7 0 9\n8 20 30\n", NULL},
    {"an op of that name is no step", "1 op 0 9 ProfilerStep#7", "", NULL},
    {"from the end of one optimizer step to the end of the next",
     "1 op 2 4 a\n1 annotation 5 9 Optimizer.step#SGD.step\n"
     "1 annotation 15 19 Optimizer.step#SGD.step\n1 op 20 30 a",
     "0 2 9\n1 9 19\n", NULL},
    {"the first of several optimizers counts",
     "1 op 0 1 a\n1 annotation 5 9 Optimizer.step#B.step\n1 annotation 10 12 "
     "Optimizer.step#A.step\n"
     "1 annotation 15 19 Optimizer.step#B.step\n1 annotation 20 22 Optimizer.step#A.step",
     "0 0 9\n1 9 19\n", NULL},
    {"ProfilerStep wins over the optimizer",
     "1 annotation 0 9 ProfilerStep#1\n1 annotation 5 8 Optimizer.step#SGD.step", "1 0 9\n", NULL},
    {"none", "1 op 0 9 a", "", NULL},
    {"a marker of one's own",
     "- marker ^batch [0-9]+$\n"
     "1 annotation 0 4 batch 0\n1 annotation 5 9 batch 1\n1 op 6 7 b",
     "0 0 4\n1 5 9\n", NULL},
    {"a marker may be an op, on any thread",
     "- marker ^fwd$\n"
     "1 op 5 9 fwd\n2 op 0 4 fwd\n1 op 6 7 forward",
     "0 0 4\n1 5 9\n", NULL},
    {"a marker that fits nothing",
     "- marker ^batch\n"
     "1 annotation 0 9 ProfilerStep#1",
     "", NULL},
};

static const struct told forwards[] = {
    {"by the sequence number", "1 op#3 0 4 mul\n1 op#4 5 9 add\n2 op<3 20 29 MulBackward0",
     "MulBackward0 <- mul\n", NULL},
    {"the last to start of one number",
     "1 op#3 0 9 conv2d\n1 op#3 1 8 _conv\n2 op<3 20 29 ConvBackward0", "ConvBackward0 <- _conv\n",
     NULL},
    {"each of several backward ops", "1 op#3 0 4 mul\n2 op<3 20 29 b\n2 op<3 21 28 c",
     "b <- mul\nc <- mul\n", NULL},
    {"a number nobody had", "1 op#3 0 4 mul\n2 op<5 20 29 b", "b <- -\n", "no_memory 1"},
    {"a number two threads had is not told", "1 op#3 0 4 mul\n2 op#3 0 4 add\n3 op<3 20 29 b",
     "b <- -\n", "forward_ambiguous 1, no_memory 1"},
    {"three threads neither", "1 op#3 0 4 x\n2 op#3 0 4 y\n3 op#3 0 4 z\n4 op<3 20 29 b",
     "b <- -\n", "forward_ambiguous 1, no_memory 1"},
    {"an op without a number has none", "1 op 0 4 mul\n2 op 20 29 b", "", NULL},
};

static void step(void **state)
{
    check_told(*state, tell_steps);
}

static void forward(void **state)
{
    check_told(*state, tell_forward);
}

static void bad_marker(void **state)
{
    (void)state;
    struct mt_recording r;
    struct mt_err err = MT_ERR_INIT;
    assert_int_equal(built(&r, "- marker step[\n1 op 0 9 a", &err), MT_EUSAGE);
    assert_non_null(strstr(err.what, "'step['"));
    mt_rec_free(&r);
}

int main(void)
{
    static struct row_tests tests;
    static const struct {
        const char *name;
    } bad[] = {{"a marker that is no expression"}};
    ROWS_ADD(&tests, step, steps);
    ROWS_ADD(&tests, forward, forwards);
    ROWS_ADD(&tests, bad_marker, bad);
    return ROWS_RUN(&tests, "steps");
}
