/* lib/build/calltree.c, sort.c: how ops nest, and what a path says of its node. */
#include "lib/base/sort.h"
#include "tests/unit/built.h"
#include <string.h>

#define QUIET "no_memory 1"

static const struct told trees[] = {
    {"an op in another", "1 op 0 10 a\n1 op 2 5 b", "a 1 10 7\n  b 1 3 3\n", QUIET},
    {"in any order of recording", "1 op 2 5 b\n1 op 0 10 a", "a 1 10 7\n  b 1 3 3\n", QUIET},
    {"one after the other, at once", "1 op 0 5 a\n1 op 5 9 b", "a 1 5 5\nb 1 4 4\n", QUIET},
    {"calls of one path are one node",
     "1 op 0 10 a\n1 op 1 2 b\n1 op 3 6 b\n1 op 20 30 a\n1 op 20 24 b", "a 2 20 12\n  b 3 8 8\n",
     QUIET},
    {"the same name below itself", "1 op 0 10 a\n1 op 1 9 a\n1 op 2 3 a",
     "a 1 10 2\n  a 1 8 7\n    a 1 1 1\n", QUIET},
    {"equal start: the longer one is the parent", "1 op 0 5 b\n1 op 0 10 a",
     "a 1 10 5\n  b 1 5 5\n", QUIET},
    {"equal end: the earlier one is the parent", "1 op 5 10 b\n1 op 0 10 a",
     "a 1 10 5\n  b 1 5 5\n", QUIET},
    {"equal times: the one recorded first", "1 op 0 10 a\n1 op 0 10 b\n1 op 0 10 c",
     "a 1 10 0\n  b 1 10 0\n    c 1 10 10\n", QUIET},
    {"an op without length inside", "1 op 0 10 a\n1 op 4 4 z\n1 op 4 6 b",
     "a 1 10 8\n  b 1 2 2\n    z 1 0 0\n", QUIET},
    {"an op without length at the end is no child", "1 op 0 10 a\n1 op 10 10 z",
     "a 1 10 10\nz 1 0 0\n", QUIET},
    {"an op that ends too late is cut", "1 op 0 10 a\n1 op 5 15 b", "a 1 10 5\n  b 1 5 5\n",
     "overlap 1, no_memory 1"},
    {"what starts behind the cut is outside", "1 op 0 10 a\n1 op 5 15 b\n1 op 12 14 c",
     "a 1 10 5\n  b 1 5 5\nc 1 2 2\n", "overlap 1, no_memory 1"},
    {"a cut op cuts its own children", "1 op 0 10 a\n1 op 5 15 b\n1 op 7 13 c",
     "a 1 10 5\n  b 1 5 2\n    c 1 3 3\n", "overlap 1, no_memory 1"},
    {"a child that outlives what its parent was", "1 op 0 10 a\n1 op 5 15 b\n1 op 7 16 c",
     "a 1 10 5\n  b 1 5 2\n    c 1 3 3\n", "overlap 2, no_memory 1"},
    {"a scope is not in the frames that enter it",
     "1 python 0 100 train\n1 python 10 20 enter\n1 python 12 18 new\n1 annotation 14 90 s\n"
     "1 python 15 16 rest\n1 op 30 40 a\n1 python 80 95 exit\n1 python 82 94 end\n",
     "train 1 100 20\n  enter 1 4 2\n    new 1 2 2\n"
     "  s 1 76 55\n    rest 1 1 1\n    a 1 10 10\n    exit 1 10 2\n      end 1 8 8\n",
     QUIET},
    {"nor in any that it outlives", "1 python 0 20 f\n1 python 1 19 g\n1 annotation 5 30 s",
     "f 1 5 1\n  g 1 4 4\ns 1 25 25\n", QUIET},
    {"a scope that ends with a frame is in it", "1 python 0 20 f\n1 annotation 5 20 s",
     "f 1 20 5\n  s 1 15 15\n", QUIET},
    {"an operator around a scope still cuts it", "1 op 0 20 a\n1 python 1 9 f\n1 annotation 5 30 s",
     "a 1 20 1\n  f 1 4 4\n  s 1 15 15\n", "overlap 1, no_memory 1"},
    {"a mode of dispatch that sees a scope entered and left is not around it",
     "1 op 0 10 PythonDispatchMode\n1 annotation 5 30 s\n1 op 12 20 a\n"
     "1 op 14 18 PythonDispatchMode\n1 op 25 35 PythonDispatchMode",
     "PythonDispatchMode 1 5 5\ns 1 25 12\n  a 1 8 4\n    PythonDispatchMode 1 4 4\n"
     "  PythonDispatchMode 1 5 5\n",
     QUIET},
    {"with stacks neither, nor what Python calls in it",
     "1 python 0 20 enter\n1 op 1 19 PythonDispatchMode\n1 python 2 18 dispatch\n1 annotation 5 30 "
     "s",
     "enter 1 5 1\n  PythonDispatchMode 1 4 1\n    dispatch 1 3 3\ns 1 25 25\n", QUIET},
    {"threads do not nest in each other", "1 op 0 10 a\n2 op 2 5 b\n2 op 3 4 c",
     "a 1 10 10\nb 1 3 2\n  c 1 1 1\n", QUIET},
    {"but share their nodes", "1 op 0 10 a\n2 op 2 5 a", "a 2 13 13\n", QUIET},
    {"kinds are told apart", "1 op 0 4 a\n1 annotation 5 7 a", "a 1 4 4\na 1 2 2\n", QUIET},
    {"steps are one node", "1 annotation 0 4 ProfilerStep#3\n1 annotation 5 9 ProfilerStep#4",
     "ProfilerStep* 2 8 8\n", QUIET},
    {"module instances are told apart, addresses are not",
     "1 python 0 4 nn.Module: Linear_0\n1 python 5 9 nn.Module: Linear_1\n"
     "1 python 10 12 <built-in method empty of type object at 0x7f40>\n"
     "1 python 13 15 <built-in method empty of type object at 0x99>",
     "nn.Module: Linear_0 1 4 4\nnn.Module: Linear_1 1 4 4\n"
     "<built-in method empty of type object> 2 4 4\n",
     QUIET},
    {"overloads of an operator are one",
     "1 op 0 4 aten::add.Tensor\n1 op 5 9 aten::add\n1 op 10 12 my_lib::f.default",
     "aten::add 2 8 8\nmy_lib::f 1 2 2\n", QUIET},
    {"of names of another form nothing is cut",
     "1 op 0 1 a::b::c.d\n1 op 2 3 a::b.\n1 op 4 5 a::.b\n1 op 6 7 ::a.b\n1 op 8 9 a.b\n"
     "1 op 10 11 a::b.c d\n1 annotation 12 13 a::b.c\n1 op 14 15 SGD.step\n1 op 16 17 a::b.0",
     "a::b::c.d 1 1 1\na::b. 1 1 1\na::.b 1 1 1\n::a.b 1 1 1\na.b 1 1 1\na::b.c d 1 1 1\n"
     "a::b.c 1 1 1\nSGD.step 1 1 1\na::b.0 1 1 1\n",
     QUIET},
    {"nothing", "", "", QUIET},
};

static const struct told nodes[] = {
    {"top is the outermost op", "1 op 0 9 a\n1 op 1 8 b\n1 runtime 2 3 c",
     "a: a - - forward\nb: a - - forward\nc: a - - forward\n", NULL},
    {"below an annotation top begins anew",
     "1 op 0 9 a\n1 annotation 1 8 s\n1 op 2 7 b\n1 op 3 4 c",
     "a: a - - forward\ns: s s - forward\nb: b s - forward\nc: b s - forward\n", NULL},
    {"the innermost scope", "1 annotation 0 9 s\n1 annotation 1 8 t\n1 op 2 3 a\n1 op 8 9 b",
     "s: s s - other\nt: t t - other\na: a t - forward\nb: b s - forward\n", NULL},
    {"a step is no scope", "1 annotation 0 9 s\n1 annotation 1 8 ProfilerStep#1\n1 op 2 3 a",
     "s: s s - other\nProfilerStep*: ProfilerStep* s - other\na: a s - forward\n", NULL},
    {"the innermost module",
     "1 python 0 9 nn.Module: Net_0\n1 python 1 8 nn.Module: Linear_2\n1 python 2 7 f\n1 op 3 4 a",
     "nn.Module: Net_0: nn.Module: Net_0 - nn.Module: Net_0 other\n"
     "nn.Module: Linear_2: nn.Module: Linear_2 - nn.Module: Linear_2 other\n"
     "f: f - nn.Module: Linear_2 other\na: a - nn.Module: Linear_2 forward\n",
     NULL},
    {"what makes data or builds a model is not forward",
     "1 op 0 1 aten::empty\n1 op 1 3 aten::uniform_\n1 op 3 5 aten::clone\n1 op 5 6 aten::randn\n"
     "1 op 6 9 aten::linear\n1 op 7 8 aten::empty\n1 op 10 12 aten::clone\n1 op 13 14 aten::randn",
     "aten::empty: aten::empty - - other\naten::uniform_: aten::uniform_ - - other\n"
     "aten::clone: aten::clone - - other\naten::randn: aten::randn - - other\n"
     "aten::linear: aten::linear - - forward\naten::empty: aten::linear - - forward\n"
     "aten::clone: aten::clone - - forward\n",
     NULL},
    {"what an op that makes data does is not forward either",
     "1 op 0 9 aten::randn\n1 op 1 2 aten::empty\n1 op 2 8 aten::normal_",
     "aten::randn: aten::randn - - other\naten::empty: aten::randn - - other\n"
     "aten::normal_: aten::randn - - other\n",
     NULL},
    {"but a module may make what it needs",
     "1 python 0 9 nn.Module: Dropout_0\n1 op 1 2 aten::empty",
     "nn.Module: Dropout_0: nn.Module: Dropout_0 - nn.Module: Dropout_0 other\n"
     "aten::empty: aten::empty - nn.Module: Dropout_0 forward\n",
     NULL},
    {"a thread that computes builds no model any more",
     "1 op 0 1 aten::mm\n1 op 1 2 aten::copy_\n2 op 0 1 aten::copy_",
     "aten::mm: aten::mm - - forward\naten::copy_: aten::copy_ - - forward\n"
     "aten::copy_: aten::copy_ - - other\n",
     NULL},
    {"forward ops that run again in backward",
     "1 op 0 9 autograd::engine::evaluate_function: MulBackward0\n1 op<7 1 8 MulBackward0\n"
     "1 op#9 2 4 aten::mul\n1 op 3 4 aten::empty\n1 op 5 6 aten::mul",
     "autograd::engine::evaluate_function: MulBackward0: "
     "autograd::engine::evaluate_function: MulBackward0 - - backward\n"
     "MulBackward0: autograd::engine::evaluate_function: MulBackward0 - - backward\n"
     "aten::mul: aten::mul - - recomputed\naten::empty: aten::mul - - recomputed\n"
     "aten::mul: autograd::engine::evaluate_function: MulBackward0 - - backward\n",
     NULL},
    {"a backward in what runs again is backward",
     "1 op 0 9 autograd::engine::evaluate_function: A\n1 op#9 2 8 aten::mul\n"
     "1 op 3 7 autograd::engine::evaluate_function: B\n1 op 4 5 aten::mul",
     "autograd::engine::evaluate_function: A: autograd::engine::evaluate_function: A - - backward\n"
     "aten::mul: aten::mul - - recomputed\n"
     "autograd::engine::evaluate_function: B: autograd::engine::evaluate_function: B - - backward\n"
     "aten::mul: autograd::engine::evaluate_function: B - - backward\n",
     NULL},
    {"phases",
     "1 op 0 9 autograd::engine::evaluate_function: MulBackward0\n1 op 1 2 aten::mul\n"
     "1 annotation 10 19 Optimizer.step#SGD.step\n1 op 11 12 aten::mul\n"
     "1 annotation 20 29 enumerate(DataLoader)#_Iter.__next__\n1 op 21 22 aten::mul\n"
     "1 runtime 30 31 cudaMalloc",
     "autograd::engine::evaluate_function: MulBackward0: "
     "autograd::engine::evaluate_function: MulBackward0 - - backward\n"
     "aten::mul: autograd::engine::evaluate_function: MulBackward0 - - backward\n"
     "Optimizer.step#SGD.step: Optimizer.step#SGD.step Optimizer.step#SGD.step - optimizer\n"
     "aten::mul: aten::mul Optimizer.step#SGD.step - optimizer\n"
     "enumerate(DataLoader)#_Iter.__next__: enumerate(DataLoader)#_Iter.__next__ "
     "enumerate(DataLoader)#_Iter.__next__ - data loading\n"
     "aten::mul: aten::mul enumerate(DataLoader)#_Iter.__next__ - data loading\n"
     "cudaMalloc: cudaMalloc - - other\n",
     NULL},
    {"a closure that an optimizer's step calls is no part of the optimizer",
     "1 annotation 0 90 Optimizer.step#A.step\n1 op 1 2 aten::rand\n1 op#5 3 6 aten::mul\n"
     "1 op#5 4 5 aten::add\n1 op 7 8 aten::detach\n1 annotation 10 20 Optimizer.zero_grad#A\n"
     "1 op#6 11 12 aten::zero_\n1 op 30 40 autograd::engine::evaluate_function: X\n"
     "1 op 50 60 aten::mul",
     "Optimizer.step#A.step: Optimizer.step#A.step Optimizer.step#A.step - optimizer\n"
     "aten::rand: aten::rand Optimizer.step#A.step - other\n"
     "aten::mul: aten::mul Optimizer.step#A.step - forward\n"
     "aten::add: aten::mul Optimizer.step#A.step - forward\n"
     "aten::detach: aten::detach Optimizer.step#A.step - forward\n"
     "Optimizer.zero_grad#A: Optimizer.zero_grad#A Optimizer.zero_grad#A - optimizer\n"
     "aten::zero_: aten::zero_ Optimizer.zero_grad#A - optimizer\n"
     "autograd::engine::evaluate_function: X: autograd::engine::evaluate_function: X "
     "Optimizer.step#A.step - backward\n"
     "aten::mul: aten::mul Optimizer.step#A.step - optimizer\n",
     NULL},
    {"a closure whose backward pass runs on another thread",
     "1 annotation 0 90 Optimizer.step#A.step\n1 op#5 3 6 aten::mul\n"
     "2 op 30 40 autograd::engine::evaluate_function: X\n1 op 50 60 aten::mul",
     "Optimizer.step#A.step: Optimizer.step#A.step Optimizer.step#A.step - optimizer\n"
     "aten::mul: aten::mul Optimizer.step#A.step - forward\n"
     "aten::mul: aten::mul Optimizer.step#A.step - optimizer\n"
     "autograd::engine::evaluate_function: X: autograd::engine::evaluate_function: X - - "
     "backward\n",
     NULL},
    {"a closure that an optimizer hands on to another one",
     "1 op 0 1 autograd::engine::evaluate_function: X\n1 annotation 2 3 Optimizer.step#A.step\n"
     "1 annotation 10 90 Optimizer.step#L.step\n1 annotation 11 80 Optimizer.step#A.step\n"
     "1 op 12 13 aten::div\n1 op#5 14 15 aten::mul\n"
     "1 op 20 21 autograd::engine::evaluate_function: X\n1 op 30 31 aten::add_\n"
     "1 op 82 83 aten::sub",
     "autograd::engine::evaluate_function: X: autograd::engine::evaluate_function: X - - backward\n"
     "Optimizer.step#A.step: Optimizer.step#A.step Optimizer.step#A.step - optimizer\n"
     "Optimizer.step#L.step: Optimizer.step#L.step Optimizer.step#L.step - optimizer\n"
     "Optimizer.step#A.step: Optimizer.step#A.step Optimizer.step#A.step - optimizer\n"
     "aten::div: aten::div Optimizer.step#A.step - forward\n"
     "aten::mul: aten::mul Optimizer.step#A.step - forward\n"
     "autograd::engine::evaluate_function: X: autograd::engine::evaluate_function: X "
     "Optimizer.step#A.step - backward\n"
     "aten::add_: aten::add_ Optimizer.step#A.step - optimizer\n"
     "aten::sub: aten::sub Optimizer.step#L.step - optimizer\n",
     NULL},
    {"what an optimizer does between two closures is its own, with a graph or none",
     "1 op 0 1 autograd::engine::evaluate_function: X\n1 annotation 2 90 Optimizer.step#A.step\n"
     "1 op 3 4 aten::div\n1 op#5 5 6 aten::mul\n"
     "1 op 10 11 autograd::engine::evaluate_function: X\n1 op 20 21 aten::add_\n"
     "1 op#6 22 23 aten::mul\n1 op 30 31 autograd::engine::evaluate_function: X\n"
     "1 op#7 40 41 aten::sub",
     "autograd::engine::evaluate_function: X: autograd::engine::evaluate_function: X - - backward\n"
     "Optimizer.step#A.step: Optimizer.step#A.step Optimizer.step#A.step - optimizer\n"
     "aten::div: aten::div Optimizer.step#A.step - optimizer\n"
     "aten::mul: aten::mul Optimizer.step#A.step - forward\n"
     "autograd::engine::evaluate_function: X: autograd::engine::evaluate_function: X "
     "Optimizer.step#A.step - backward\n"
     "aten::add_: aten::add_ Optimizer.step#A.step - optimizer\n"
     "aten::sub: aten::sub Optimizer.step#A.step - optimizer\n",
     NULL},
    {"the innermost phase counts",
     "1 annotation 0 9 Optimizer.step#A.step\n"
     "1 op 1 8 autograd::engine::evaluate_function: X\n1 op 2 3 a",
     "Optimizer.step#A.step: Optimizer.step#A.step Optimizer.step#A.step - optimizer\n"
     "autograd::engine::evaluate_function: X: autograd::engine::evaluate_function: X "
     "Optimizer.step#A.step - backward\n"
     "a: autograd::engine::evaluate_function: X Optimizer.step#A.step - backward\n",
     NULL},
};

static void tree(void **state)
{
    check_told(*state, tell_tree);
}

static void span(void **state)
{
    check_told(*state, tell_span);
}

static void node(void **state)
{
    check_told(*state, tell_nodes);
}

/* ---- sorting ---- */

struct timed {
    int64_t t;
    int place, key;
};

static int by_key(const void *a, const void *b)
{
    return ((const struct timed *)a)->key - ((const struct timed *)b)->key;
}

static const struct told spans[] = {
    {"of nothing", "", "0 0\n", QUIET},
    {"of ops on all threads", "1 op 5 9 a\n2 op 3 7 b", "3 9\n", QUIET},
    {"of records around them", "1 op 5 9 a\n1 mem 2 8 1 cpu\n1 mem 12 8 2 cpu", "2 12\n", NULL},
    {"of allocations that failed around them", "1 op 5 9 a\n1 oom 12 8 cpu\n1 oom 2 8 cpu",
     "2 12\n", QUIET},
};

struct sorting {
    const char *name;
    size_t n;
    int64_t t[8];
    int key[8];
    int by_place[8], by_key[8]; /* the places in the order wanted */
};

static const struct sorting sortings[] = {
    {"none", 0, {0}, {0}, {0}, {0}},
    {"one", 1, {5}, {0}, {0}, {0}},
    {"sorted", 4, {1, 2, 3, 4}, {4, 3, 2, 1}, {0, 1, 2, 3}, {0, 1, 2, 3}},
    {"backwards", 4, {4, 3, 2, 1}, {0}, {3, 2, 1, 0}, {3, 2, 1, 0}},
    {"equal times", 4, {1, 1, 1, 1}, {3, 1, 2, 0}, {0, 1, 2, 3}, {3, 1, 2, 0}},
    {"ties in the middle", 5, {7, 5, 5, 1, 5}, {0, 9, 3, 0, 6}, {3, 1, 2, 4, 0}, {3, 2, 4, 1, 0}},
    {"negative and extreme",
     5,
     {INT64_MAX, -1, INT64_MIN, 0, 1},
     {0},
     {2, 1, 3, 4, 0},
     {2, 1, 3, 4, 0}},
};

static void sorting(void **state)
{
    const struct sorting *row = *state;
    for (int with_key = 0; with_key < 2; with_key++) {
        struct timed v[8];
        for (size_t i = 0; i < row->n; i++)
            v[i] = (struct timed){row->t[i], (int)i, row->key[i]};
        mt_sort_by_time(v, row->n, sizeof *v, with_key ? by_key : NULL);
        for (size_t i = 0; i < row->n; i++)
            assert_int_equal(v[i].place, with_key ? row->by_key[i] : row->by_place[i]);
    }
}

/* Many random times, with ties: as qsort would have it. */
static void sort_many(void **state)
{
    (void)state;
    enum { N = 20000 };
    struct timed *v = mt_alloc(N * sizeof *v);
    uint64_t seed = 42;
    for (int i = 0; i < N; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        v[i] = (struct timed){(int64_t)(seed >> 20) % 5000 * 1000003, i, 0};
    }
    mt_sort_by_time(v, N, sizeof *v, NULL);
    for (int i = 1; i < N; i++)
        assert_true(v[i - 1].t < v[i].t || (v[i - 1].t == v[i].t && v[i - 1].place < v[i].place));
    free(v);
}

int main(void)
{
    static struct row_tests tests;
    static const struct {
        const char *name;
    } many[] = {{"sort many"}};
    ROWS_ADD(&tests, tree, trees);
    ROWS_ADD(&tests, node, nodes);
    ROWS_ADD(&tests, span, spans);
    ROWS_ADD(&tests, sorting, sortings);
    ROWS_ADD(&tests, sort_many, many);
    return ROWS_RUN(&tests, "call tree");
}
