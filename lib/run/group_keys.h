/*
 * group_keys.h - the keys of --by: what ops and blocks are grouped by. To add one: a row here, and
 * what it is of an op in grouper.c.
 */
#ifndef MT_GROUP_KEYS_H
#define MT_GROUP_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* How calls are counted in a group. */
enum mt_key_span {
    MT_SPAN_OP,    /* a group is of one op or call path: each call */
    MT_SPAN_PART,  /* a group holds whole parts of the call tree: the outermost calls */
    MT_SPAN_ASIDE, /* a group cuts across the tree: as the other keys say */
};

/* KEY(enumerator, name, span, whether it needs single ops, meaning for help) */
#define MT_GROUP_KEYS_OF_BLOCKS(KEY)                                                               \
    KEY(NAME, "name", MT_SPAN_OP, false,                                                           \
        "the op itself, as innermost: aten::empty; \"X (engine)\" is "                             \
        "autograd::engine::evaluate_function: X, around the node's own X; \"[Python]\" is "        \
        "what functions of Python do between ops (--by line has these)")                           \
    KEY(TOP, "top", MT_SPAN_PART, false, MT_GROUP_KEY_TOP)                                         \
    KEY(SITE, "site", MT_SPAN_PART, false, MT_GROUP_KEY_SITE)                                      \
    KEY(LINE, "line", MT_SPAN_PART, false, MT_GROUP_KEY_LINE)                                      \
    KEY(SCOPE, "scope", MT_SPAN_PART, false,                                                       \
        "the innermost record_function() annotation around "                                       \
        "it")                                                                                      \
    KEY(MODULE, "module", MT_SPAN_PART, false,                                                     \
        "the innermost nn.Module around it (traces recorded with_stack, snapshots)")               \
    KEY(LAYER, "layer", MT_SPAN_PART, false,                                                       \
        "all nn.Modules around it: Gpt_0.Block_3.Linear_7 (traces recorded with_stack)")           \
    KEY(OBJECT, "object", MT_SPAN_PART, false,                                                     \
        "the library or program that the site's function is in (heap logs)")                       \
    KEY(FILE, "file", MT_SPAN_PART, false, "the source file of the site's function (heap logs)")   \
    KEY(CATEGORY, "category", MT_SPAN_PART, false,                                                 \
        "what the memory is for: parameter, gradient, activation ... (traces with addresses, "     \
        "memory timelines)")                                                                       \
    KEY(WHY, "why", MT_SPAN_ASIDE, true,                                                           \
        "the rule that says so: R5, F2 (docs/categories.md has them)")                             \
    KEY(LABEL, "label", MT_SPAN_PART, false,                                                       \
        "what the recorder was told of it: tenant=a, user=5; label:user is the 5 alone (pprof, "   \
        "rows; "                                                                                   \
        "import --split label)")                                                                   \
    KEY(PHASE, "phase", MT_SPAN_PART, false,                                                       \
        "forward, backward, recomputed (forward ops that a checkpoint runs again in backward), "   \
        "optimizer, data loading or other")                                                        \
    KEY(PATH, "path", MT_SPAN_OP, false,                                                           \
        "the whole call path from the root; of more than 256 names 64 are shown")                  \
    KEY(SHAPE, "shape", MT_SPAN_OP, true,                                                          \
        "the op with these input shapes, or sizes it was asked for (traces recorded with "         \
        "record_shapes)")                                                                          \
    KEY(TENSOR, "tensor", MT_SPAN_ASIDE, true,                                                     \
        "the tensor it was allocated for: [8, 64] float32 (traces of PyTorch 2.1 or later, "       \
        "recorded with record_shapes)")                                                            \
    KEY(DTYPE, "dtype", MT_SPAN_ASIDE, true, "the type of that tensor's elements: float32")        \
    KEY(THREAD, "thread", MT_SPAN_ASIDE, true,                                                     \
        "the thread it runs on (heap logs: import --split thread)")                                \
    KEY(SIZE, "size", MT_SPAN_ASIDE, true,                                                         \
        "how large the blocks are (heap logs: by powers of two, import --split size; the "         \
        "table of heaptrack's logs, by nothing else, without it)")                                 \
    KEY(STEP, "step", MT_SPAN_ASIDE, true,                                                         \
        "the step it lies in, of ProfilerStep#N, Optimizer.step# or import --step-marker")

/* The same, and what blocks have not. */
#define MT_GROUP_KEYS_OF_OPS(KEY)                                                                  \
    MT_GROUP_KEYS_OF_BLOCKS(KEY)                                                                   \
    KEY(FORWARD, "forward", MT_SPAN_OP, true,                                                      \
        "of backward ops: the op of the forward pass they belong to")

#define MT_GROUP_KEY_TOP                                                                           \
    "the outermost op your code or autograd called; in snapshots your innermost line of Python"

#define MT_GROUP_KEY_SITE                                                                          \
    "where in your program: your innermost line of Python (see line) in its scope; in traces "     \
    "recorded without stacks the top op in its scope"
#define MT_GROUP_KEY_LINE                                                                          \
    "your innermost function, not of PyTorch or installed packages: train.py:12 step; traces "     \
    "(with_stack) have the line of its def, snapshots and heap logs the line itself or the "       \
    "function alone"

/* Keys of labels, named as a command was asked for them: "label:tenant". */
enum { MT_LABEL_KEYS = 8 };
#define MT_LABEL_KEY "label:"

enum mt_group_key {
#define MT_KEY_ENUMERATOR(key, name, span, ops, meaning) MT_BY_##key,
    MT_GROUP_KEYS_OF_OPS(MT_KEY_ENUMERATOR)
#undef MT_KEY_ENUMERATOR
        MT_BY_LABEL_KEY,
    MT_BY_N = MT_BY_LABEL_KEY + MT_LABEL_KEYS
};

/* What a key is called. */
const char *mt_group_key_name(enum mt_group_key key);

/* The key of labels that it is about: "tenant"; NULL: it is none of these. */
const char *mt_group_label_key(enum mt_group_key key);

/* The key whose name are these n bytes; MT_BY_N: none. A key of labels is found from then on, as
 * many as MT_LABEL_KEYS in a process: commands ask for all before they read a run. */
enum mt_group_key mt_group_key_find(const char *name, size_t n);

/* Whether some of the keys need single ops. */
bool mt_group_needs_ops(const enum mt_group_key *keys, int key_n);

/* Whether the key is one of them. */
bool mt_group_has(const enum mt_group_key *keys, int key_n, enum mt_group_key key);

/* Whether only the outermost calls of a group are counted (MT_SPAN_PART), and not each. */
bool mt_group_calls_outermost(const enum mt_group_key *keys, int key_n);

#endif
