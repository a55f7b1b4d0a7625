#include "cmd/words.h"

const struct mt_word mt_words_of_by[] = {
    {"name", "the op itself, as innermost: aten::empty"},
    {"top", MT_WORD_TOP},
    {"site", "the top op in its scope: where in your program"},
    {"scope", "the innermost record_function() annotation around it"},
    {"module", "the innermost nn.Module around it (traces recorded with_stack, snapshots)"},
    {"phase", "forward, backward, recomputed (forward ops that a checkpoint runs again in "
              "backward), optimizer, data loading or other"},
    {"path", "the whole call path from the root; of more than 256 names 64 are shown"},
    {"shape", "the op with these input shapes (traces recorded with record_shapes)"},
    {"thread", "the thread it runs on"},
    {"step", "the step it lies in, of ProfilerStep#N, Optimizer.step# or import --step-marker"},
    {"forward", "of backward ops: the op of the forward pass they belong to (table)"},
    {"device", "each device apart (table)"},
    {0}};

const struct mt_word mt_words_of_moments[] = {
    {"12ms, 1.5s", "after the beginning of the run; a bare number is nanoseconds"},
    {"@start, @end", "before the first record, after the last"},
    {"@peak", "when the device held most"},
    {"@step 3", "when step 3 ends, before what the next one begins with"},
    {"@step 3:start", "when it begins, before all that is recorded in it"},
    {"@step 3:peak", "when the device held most in it"},
    {0}};
