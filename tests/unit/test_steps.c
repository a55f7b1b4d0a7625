/* lib/build/steps.c, forward.c: where steps begin and end, and which op a backward op belongs to.
 */
#include "tests/unit/built.h"
#include <string.h>

/* Lines of a recording. */
#define STEP(start, end, class) "1 annotation " #start " " #end " Optimizer.step#" class ".step\n"
#define BACKWARD(start, end, name)                                                                 \
    "1 op " #start " " #end " autograd::engine::evaluate_function: " name "Backward0\n"
#define LOAD(start, end) "1 annotation " #start " " #end " enumerate(DataLoader)#Iter.__next__\n"
#define NUMBERED                                                                                   \
    "1 annotation 0 9 ProfilerStep#7\n1 annotation 10 19 ProfilerStep#8\n"                         \
    "1 annotation 20 29 ProfilerStep#9\n"
#define SCOPE(start, end, name) "1 annotation " #start " " #end " " name "\n"
/* Two optimizers of one class in turn, behind so many hundreds. */
#define GAN(h)                                                                                     \
    BACKWARD(h##01, h##20, "Mul")                                                                  \
    STEP(h##21, h##25, "A") BACKWARD(h##26, h##30, "Tanh") STEP(h##31, h##40, "A")

static const struct told steps[] = {
    {"ProfilerStep by its number",
     "1 annotation 20 30 ProfilerStep#8\n1 annotation 0 9 ProfilerStep#7\n1 op 1 2 a\n1 op 20 21 a",
     "7 0 9\n8 20 30\n", NULL},
    {"a number that occurs again is the next one",
     "1 annotation 0 9 ProfilerStep#3\n1 annotation 10 19 ProfilerStep#4\n"
     "1 annotation 20 29 ProfilerStep#3\n1 annotation 30 39 ProfilerStep#9\n"
     "1 op 1 2 a\n1 op 11 12 a\n1 op 21 22 a\n1 op 31 32 a",
     "3 0 9\n4 10 19\n5 20 29\n9 30 39\n", "no_memory 1, steps_renumbered 1"},
    {"and one that is none, or no step reaches",
     "1 annotation 0 9 ProfilerStep#x\n1 annotation 10 19 ProfilerStep#-9223372036854775808\n"
     "1 annotation 20 29 ProfilerStep#9223372036854775807\n1 op 1 2 a\n1 op 11 12 a\n"
     "1 op 21 22 a",
     "0 0 9\n1 10 19\n2 20 29\n", "no_memory 1, steps_renumbered 3"},
    {"an op of that name is no step", "1 op 0 9 ProfilerStep#7", "", NULL},
    {"from the end of one optimizer step to the end of the next",
     "1 op 2 4 a\n1 annotation 5 9 Optimizer.step#SGD.step\n"
     "1 annotation 15 19 Optimizer.step#SGD.step\n1 op 20 30 a",
     "0 2 9\n1 9 19\n", NULL},
    {"several optimizers in turn: a round of them is a step",
     "1 op 0 1 a\n" STEP(5, 9, "B") "1 op 10 11 a\n" STEP(12, 14, "A") "1 op 14 15 a\n" STEP(
         15, 19, "B") "1 op 19 20 a\n" STEP(20, 22, "A"),
     "0 0 14\n1 14 22\n", "no_memory 1, steps_rounds 4"},
    {"optimizers that step one after the other have one iteration",
     "1 op 0 4 a\n" STEP(5, 7, "A") STEP(7, 9, "A") "1 op 10 14 a\n" STEP(15, 17, "A")
         STEP(18, 19, "A"),
     "0 0 9\n1 9 19\n", "no_memory 1, steps_rounds 4"},
    {"so they have if only the first waits for a gradient",
     BACKWARD(0, 4, "Mul") STEP(5, 7, "A") "1 op 7 8 clip\n" STEP(8, 9, "A") BACKWARD(10, 14, "Mul")
         STEP(15, 17, "A") "1 op 17 18 clip\n" STEP(18, 19, "A"),
     "0 0 9\n1 9 19\n", "no_memory 1, steps_rounds 4"},
    {"and if one of them leaves out an iteration",
     "1 op 0 4 a\n" STEP(5, 7, "A") STEP(7, 9, "B") "1 op 10 14 a\n" STEP(
         15, 17, "A") "1 op 18 19 a\n" STEP(20, 22, "A") STEP(22, 24, "B"),
     "0 0 9\n1 9 17\n2 17 24\n", "no_memory 1, steps_rounds 5"},
    {"two of one name, told apart by their backward ops", GAN(0) GAN(1) GAN(2),
     "0 1 40\n1 40 140\n2 140 240\n", "no_memory 1, steps_rounds 6"},
    {"what follows the last whole round is in no step",
     GAN(0) GAN(1) BACKWARD(210, 220, "Mul") STEP(221, 225, "A"), "0 1 40\n1 40 140\n",
     "no_memory 1, steps_rounds 5"},
    {"one optimizer that steps k times for each step of the other",
     BACKWARD(0, 1, "D") STEP(2, 3, "A") BACKWARD(4, 5, "D") STEP(6, 7, "A") BACKWARD(8, 9, "G")
         STEP(10, 11, "A") BACKWARD(20, 21, "D") STEP(22, 23, "A") BACKWARD(24, 25, "D")
             STEP(26, 27, "A") BACKWARD(28, 29, "G") STEP(30, 31, "A"),
     "0 0 11\n1 11 31\n", "no_memory 1, steps_rounds 6"},
    {"the beginning of the recording may lack some ops of the first round",
     STEP(2, 3, "A") BACKWARD(4, 5, "G") STEP(6, 7, "A") BACKWARD(8, 9, "D") STEP(10, 11, "A")
         BACKWARD(12, 13, "G") STEP(14, 15, "A"),
     "0 2 7\n1 7 15\n", "no_memory 1, steps_rounds 4"},
    {"alike in all, but data is loaded for every second one",
     LOAD(0, 1) BACKWARD(2, 3, "D") STEP(4, 5, "A") BACKWARD(6, 7, "D") STEP(8, 9, "A") LOAD(10, 11)
         BACKWARD(12, 13, "D") STEP(14, 15, "A") BACKWARD(16, 17, "D") STEP(18, 19, "A"),
     "0 0 9\n1 9 19\n", "no_memory 1, steps_rounds 4"},
    {"alike in all, but in scopes of their own",
     SCOPE(0, 5, "D") BACKWARD(2, 3, "D") STEP(4, 5, "A") SCOPE(5, 9, "G") BACKWARD(6, 7, "D")
         STEP(8, 9, "A") SCOPE(10, 15, "D") BACKWARD(12, 13, "D") STEP(14, 15, "A")
             SCOPE(15, 19, "G") BACKWARD(16, 17, "D") STEP(18, 19, "A"),
     "0 0 9\n1 9 19\n", "no_memory 1, steps_rounds 4"},
    {"alike in all, in scopes that are numbered: nothing is told by those",
     SCOPE(0, 5, "i1") BACKWARD(2, 3, "D") STEP(4, 5, "A") SCOPE(5, 9, "i2") BACKWARD(6, 7, "D")
         STEP(8, 9, "A") SCOPE(10, 15, "i3") BACKWARD(12, 13, "D") STEP(14, 15, "A"),
     "0 0 5\n1 5 9\n2 9 15\n", "no_memory 1"},
    {"evaluation in between is no work of an optimizer",
     BACKWARD(2, 3, "D") STEP(4, 5, "A") BACKWARD(6, 7, "D")
         STEP(8, 9, "A") "1 op 9 10 eval\n" BACKWARD(12, 13, "D") STEP(14, 15, "A")
             BACKWARD(16, 17, "D") STEP(18, 19, "A"),
     "0 2 5\n1 5 9\n2 9 15\n3 15 19\n", "no_memory 1"},
    {"two names without a pattern: nobody can tell",
     "1 op 0 1 a\n" STEP(2, 3, "A") "1 op 4 5 a\n" STEP(6, 7, "A") "1 op 8 9 a\n" STEP(
         10, 11, "B") "1 op 12 13 a\n" STEP(14, 15, "A") "1 op 16 17 a\n" STEP(18, 19, "B"),
     "", "no_memory 1, steps_unknown 5"},
    {"two of one name without a pattern neither",
     GAN(0) BACKWARD(45, 50, "Mul") STEP(51, 55, "A") GAN(1) GAN(2), "",
     "no_memory 1, steps_unknown 7"},
    {"a round that is seen only once may be chance",
     BACKWARD(0, 1, "D") STEP(2, 3, "A") BACKWARD(4, 5, "D") STEP(6, 7, "A") BACKWARD(8, 9, "G")
         STEP(10, 11, "A"),
     "", "no_memory 1, steps_unknown 3"},
    {"a marker that names an optimizer: its steps, and no rounds",
     "- marker step#A\n" GAN(0) GAN(1), "0 1 25\n1 25 40\n2 40 125\n3 125 140\n", "no_memory 1"},
    {"a step() that calls the one of its base class",
     "1 op 0 4 a\n" STEP(5, 9, "A") STEP(6, 8, "A") "1 op 10 14 a\n" STEP(15, 19, "A")
         STEP(16, 18, "A"),
     "0 0 9\n1 9 19\n", "no_memory 1, steps_merged 2"},
    {"a step() that calls the loss", /* LBFGS */
     "1 op 0 4 a\n" STEP(5, 9, "A") BACKWARD(6, 8, "Mul") "1 op 10 14 a\n" STEP(15, 19, "A")
         BACKWARD(16, 18, "Mul"),
     "0 0 9\n1 9 19\n", "no_memory 1"},
    {"steps on two threads at once are one",
     "1 op 0 4 a\n" STEP(5, 9, "A") "2 annotation 7 12 Optimizer.step#A.step\n"
                                    "1 op 12 14 a\n" STEP(
                                        15, 19, "A") "2 annotation 16 20 Optimizer.step#A.step\n",
     "0 0 12\n1 12 20\n", "no_memory 1, steps_merged 2"},
    {"steps on two threads in turn are a round",
     "1 op 0 4 a\n" STEP(5, 9, "A") "2 op 9 10 a\n2 annotation 10 12 Optimizer.step#A.step\n"
                                    "1 op 12 14 a\n" STEP(
                                        15, 19, "A") "2 op 19 20 a\n"
                                                     "2 annotation 20 22 Optimizer.step#A.step\n",
     "0 0 12\n1 12 22\n", "no_memory 1, steps_rounds 4"},
    {"the first step begins with the recording, be that a record",
     "1 mem 1 8 aa cpu\n1 op 2 4 a\n" STEP(5, 9, "A"), "0 1 9\n", NULL},
    {"ProfilerStep wins over the optimizer",
     "1 annotation 0 9 ProfilerStep#1\n1 annotation 5 8 Optimizer.step#SGD.step", "1 0 9\n", NULL},
    {"a numbered step ends when the next begins",
     "1 annotation 0 10 ProfilerStep#7\n1 annotation 9 20 ProfilerStep#8", "7 0 9\n8 9 20\n",
     "overlap 1, no_memory 1"},
    {"be that around it, or begin with it",
     "1 annotation 0 10 ProfilerStep#7\n1 annotation 2 5 ProfilerStep#8\n"
     "1 annotation 2 4 ProfilerStep#9",
     "7 0 2\n8 2 2\n9 2 4\n", "no_memory 1"},
    {"but two threads may have one step",
     "1 annotation 0 10 ProfilerStep#7\n2 annotation 9 20 ProfilerStep#7", "7 0 20\n",
     "no_memory 1, steps_merged 1"},
    {"none", "1 op 0 9 a", "", NULL},
    {"a marker of one's own",
     "- marker ^batch [0-9]+$\n"
     "1 annotation 0 4 batch 0\n1 annotation 5 9 batch 1\n1 op 6 7 b",
     "0 0 4\n1 5 9\n", NULL},
    {"a marker may be an op, on any thread",
     "- marker ^fwd$\n"
     "1 op 5 9 fwd\n2 op 0 4 fwd\n1 op 6 7 forward",
     "0 0 4\n1 5 9\n", NULL},
    {"a marker in another of the same expression",
     "- marker ^train step\n"
     "1 annotation 0 9 train step\n1 annotation 2 5 train step: forward\n"
     "1 annotation 10 19 train step\n1 annotation 12 15 train step: forward",
     "0 0 9\n1 10 19\n", "no_memory 1, steps_merged 2"},
    {"markers that overlap make one step, those that touch do not",
     "- marker ^s$\n"
     "1 annotation 0 9 s\n2 annotation 8 12 s\n2 annotation 12 14 s",
     "0 0 12\n1 12 14\n", "no_memory 1, steps_merged 1"},
    {"markers of no length",
     "- marker ^s$\n"
     "1 annotation 5 5 s\n2 annotation 5 5 s\n1 annotation 7 7 s\n1 annotation 7 9 s",
     "0 5 5\n1 7 9\n", "no_memory 1, steps_merged 2"},
    {"a step at the end in which nothing happens is none", NUMBERED "1 op 1 2 a\n1 op 10 11 a",
     "7 0 9\n8 10 19\n", "no_memory 1, steps_idle 1"},
    {"nor are several", NUMBERED "1 op 1 2 a", "7 0 9\n", "no_memory 1, steps_idle 2"},
    {"one between others stays", NUMBERED "1 op 1 2 a\n1 op 20 21 a", "7 0 9\n8 10 19\n9 20 29\n",
     "no_memory 1"},
    {"what happens before and behind it does not count",
     NUMBERED "1 op 1 2 a\n1 op 10 20 a\n1 op 30 31 a", "7 0 9\n8 10 19\n",
     "no_memory 1, steps_idle 1"},
    {"an op on any thread does, also one that began before", NUMBERED "1 op 1 2 a\n2 op 15 21 a",
     "7 0 9\n8 10 19\n9 20 29\n", "no_memory 1"},
    {"an allocation does", NUMBERED "1 op 1 2 a\n2 mem 29 8 aa cpu", "7 0 9\n8 10 19\n9 20 29\n",
     "outside_ops 1"},
    {"what is freed in it is freed behind the last one",
     NUMBERED "1 op 1 2 a\n1 mem 11 8 aa cpu\n1 mem 21 -8 aa cpu", "7 0 9\n8 10 19\n",
     "steps_idle 1"},
    {"scopes, Python functions and waiting for a device are nothing",
     NUMBERED "1 op 1 2 a\n1 op 10 11 a\n1 annotation 20 29 enumerate(DataLoader)#Iter.__next__\n"
              "1 python 21 25 stop\n1 runtime 22 24 cudaDeviceSynchronize",
     "7 0 9\n8 10 19\n", "no_memory 1, steps_idle 1"},
    {"what starts work on a device is something",
     NUMBERED "1 op 1 2 a\n1 runtime 22 24 cudaGraphLaunch", "7 0 9\n8 10 19\n9 20 29\n",
     "no_memory 1"},
    {"where nothing happens in any step, nobody knows", NUMBERED "1 op 40 41 a",
     "7 0 9\n8 10 19\n9 20 29\n", "no_memory 1"},
    {"a marker of one's own that finds no more batches",
     "- marker ^s$\n"
     "1 annotation 0 9 s\n1 op 1 2 a\n1 annotation 10 19 s\n1 op 11 12 a\n1 annotation 20 29 s",
     "0 0 9\n1 10 19\n", "no_memory 1, steps_idle 1"},
    {"markers that are ops do not count as such",
     "- marker ^s$\n"
     "1 op 0 9 s\n1 op 1 2 a\n1 op 10 19 s\n1 op 11 12 a\n1 op 20 29 s",
     "0 0 9\n1 10 19\n", "no_memory 1, steps_idle 1"},
    {"the markers of two processes: each would cut the steps of the other",
     "1 annotation 0 9 ProfilerStep#1\n1 annotation 10 19 ProfilerStep#2\n1 op 1 2 a\n1 op 11 12 "
     "a\n"
     "2:1 annotation 5 14 ProfilerStep#1\n2:1 annotation 15 24 ProfilerStep#2\n2:1 op 6 7 a\n"
     "2:1 op 16 17 a",
     "", "no_memory 1, steps_processes 2"},
    {"nor if one comes after the other",
     "1 annotation 0 9 ProfilerStep#1\n1 op 1 2 a\n2:1 annotation 10 19 ProfilerStep#1\n"
     "2:1 op 11 12 a",
     "", "no_memory 1, steps_processes 2"},
    {"or has more",
     "1 annotation 0 9 ProfilerStep#1\n1 op 1 2 a\n2:1 annotation 0 9 ProfilerStep#1\n"
     "2:1 annotation 9 12 ProfilerStep#2\n2:1 op 10 11 a",
     "", "no_memory 1, steps_processes 2"},
    {"or other numbers",
     "1 annotation 0 9 ProfilerStep#1\n1 op 1 2 a\n2:1 annotation 0 9 ProfilerStep#2", "",
     "no_memory 1, steps_processes 2"},
    {"processes exactly in step have their steps in common",
     "1 annotation 0 10 ProfilerStep#1\n1 annotation 10 19 ProfilerStep#2\n1 op 1 2 a\n"
     "3:1 annotation 0 11 ProfilerStep#1\n3:1 annotation 10 19 ProfilerStep#2\n"
     "2:1 annotation 0 10 ProfilerStep#1\n2:1 annotation 10 19 ProfilerStep#2\n2:1 op 11 12 a",
     "1 0 10\n2 10 19\n", "overlap 1, no_memory 1"},
    {"or nearly so, if nothing lies between their borders",
     "1 annotation 0 10 ProfilerStep#1\n1 annotation 12 20 ProfilerStep#2\n1 op 0 8 a\n1 op 12 19 "
     "a\n"
     "2:1 annotation 0 11 ProfilerStep#1\n2:1 annotation 12 23 ProfilerStep#2\n2:1 op 5 12 a\n"
     "2:1 python 10 11 step\n1 mem 11 8 aa cpu\n1 mem 23 -8 aa cpu",
     "1 0 10\n2 12 20\n", "overlap 1, outside_ops 2"},
    {"not if a record does",
     "1 annotation 0 10 ProfilerStep#1\n1 annotation 12 20 ProfilerStep#2\n1 op 0 8 a\n1 op 12 19 "
     "a\n"
     "2:1 annotation 0 11 ProfilerStep#1\n2:1 annotation 12 23 ProfilerStep#2\n2:1 mem 22 8 aa cpu",
     "", "steps_processes 2"},
    {"nor if an op begins there",
     "1 annotation 0 10 ProfilerStep#1\n1 annotation 12 20 ProfilerStep#2\n1 op 0 8 a\n1 op 12 19 "
     "a\n"
     "2:1 annotation 1 10 ProfilerStep#1\n2:1 annotation 12 20 ProfilerStep#2",
     "", "no_memory 1, steps_processes 2"},
    {"of optimizers the ends count",
     "1 op 0 4 a\n" STEP(5, 9, "A") "1 op 12 14 a\n" STEP(
         15, 19, "A") "2:1 op 0 4 a\n2:1 annotation 3 10 Optimizer.step#A.step\n"
                      "2:1 op 12 15 a\n2:1 annotation 17 19 Optimizer.step#A.step\n",
     "0 0 9\n1 9 19\n", "overlap 1, no_memory 1"},
    {"a process without markers goes by those of the other",
     "1 annotation 0 9 ProfilerStep#1\n1 annotation 10 19 ProfilerStep#2\n1 op 1 2 a\n1 op 11 12 "
     "a\n"
     "2:1 op 0 30 a",
     "1 0 9\n2 10 19\n", "no_memory 1"},
    {"and its work makes no idle step busy",
     "1 annotation 0 9 ProfilerStep#1\n1 annotation 10 19 ProfilerStep#2\n1 op 1 2 a\n2:1 op 12 13 "
     "a\n"
     "2:1 mem 14 8 aa cpu",
     "1 0 9\n", "outside_ops 1, steps_idle 1"},
    {"but not if it has a loop of its own",
     "1 annotation 0 9 ProfilerStep#1\n1 op 1 2 a\n2:1 annotation 5 8 Optimizer.step#SGD.step", "",
     "no_memory 1, steps_processes 2"},
    {"nor if that process comes first",
     "1 annotation 5 8 Optimizer.step#SGD.step\n2:1 annotation 0 9 ProfilerStep#1\n2:1 op 1 2 a",
     "", "no_memory 1, steps_processes 2"},
    {"optimizers of two processes take no turns",
     "1 op 0 4 a\n" STEP(5, 9, "A") "2:1 op 9 10 a\n2:1 annotation 10 12 Optimizer.step#A.step\n"
                                    "1 op 12 14 a\n" STEP(
                                        15, 19, "A") "2:1 op 19 20 a\n"
                                                     "2:1 annotation 20 22 Optimizer.step#A.step\n",
     "", "no_memory 1, steps_processes 2"},
    {"nor does work of one tell rounds of the other",
     BACKWARD(0, 4, "Mul")
         STEP(5, 7, "A") "2:1 op 7 8 autograd::engine::evaluate_function: X\n" STEP(8, 9, "B")
             BACKWARD(10, 14, "Mul") STEP(15, 17, "A") STEP(18, 19, "B"),
     "0 0 9\n1 9 19\n", "no_memory 1, steps_rounds 4"},
    {"markers of one's own in two processes",
     "- marker ^s$\n1 annotation 0 9 s\n2:1 annotation 5 12 s\n1 op 1 2 a", "",
     "no_memory 1, steps_processes 2"},
    {"ends of optimizers in two processes",
     "- marker step#A\n1 op 9 10 a\n1 annotation 5 9 Optimizer.step#A.step\n"
     "2:1 annotation 15 19 Optimizer.step#A.step",
     "", "no_memory 1, steps_processes 2"},
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
    {"each process counts for itself",
     "1 op#3 0 4 mul\n2:1 op#3 0 4 add\n3 op<3 20 29 b\n2:2 op<3 20 29 c\n3:1 op<3 20 29 d",
     "b <- mul\nc <- add\nd <- -\n", "no_memory 1"},
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

struct drawn {
    const char *name;
    uint32_t seed;
};

static uint32_t draw(uint32_t *seed, uint32_t n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % n;
}

/* Whatever the markers are: steps come in order and do not overlap. */
static void in_order(void **state)
{
    static const char *const names[] = {"ProfilerStep#1", "ProfilerStep#2", "Optimizer.step#A.step",
                                        "Optimizer.step#B.step", "s"};
    uint32_t seed = ((const struct drawn *)*state)->seed;
    for (int round = 0; round < 200; round++) {
        struct mt_buf text = {0};
        struct mt_recording r;
        struct mt_err err = MT_ERR_INIT;
        uint32_t kind = draw(&seed, 3);
        mt_buf_adds(&text, kind == 2 ? "- marker ^s$\n" : "");
        for (uint32_t i = 0, n = 1 + draw(&seed, 12); i < n; i++) {
            uint32_t start = draw(&seed, 40), dur = draw(&seed, 12);
            mt_buf_addf(&text, "%u annotation %u %u %s\n", 1 + draw(&seed, 2), start, start + dur,
                        names[kind == 2 ? 4 : 2 * kind + draw(&seed, 2)]);
            mt_buf_addf(&text, "1 op %u %u a\n", start, start + draw(&seed, 3));
        }
        assert_int_equal(built(&r, text.s, &err), MT_OK);
        for (size_t i = 0; i < r.steps.n; i++) {
            assert_true(r.steps.v[i].start_ns <= r.steps.v[i].end_ns);
            assert_true(!i || r.steps.v[i - 1].end_ns <= r.steps.v[i].start_ns);
        }
        mt_rec_free(&r);
        mt_buf_free(&text);
    }
}

int main(void)
{
    static struct row_tests tests;
    static const struct {
        const char *name;
    } bad[] = {{"a marker that is no expression"}};
    static const struct drawn random[] = {{"any markers, 1", 1}, {"any markers, 2", 2}};
    ROWS_ADD(&tests, step, steps);
    ROWS_ADD(&tests, forward, forwards);
    ROWS_ADD(&tests, bad_marker, bad);
    ROWS_ADD(&tests, in_order, random);
    return ROWS_RUN(&tests, "steps");
}
