#include "lib/model/kind_words.h"

const struct mt_kind_words mt_kind_words[MT_RUN_KIND_N] = {
    [MT_RUN_TRACE] = {.noun = "PyTorch trace",
                      .outside = "[outside ops]",
                      .no_steps = "Record with prof.step() in a profile with a schedule, or import "
                                  "with --step-marker REGEX to say what a step is."},
    [MT_RUN_SNAPSHOT] = {.noun = "allocator snapshot",
                         .outside = "[outside ops]",
                         .no_steps = "Record with record_function(f\"ProfilerStep#{n}\") around "
                                     "each iteration, or import with --step-marker REGEX to name "
                                     "another scope."},
    [MT_RUN_HEAP] = {.noun = "heap log", .outside = "[no call path]", .no_steps = ""},
    [MT_RUN_PROCESS] = {.noun = "process log", .outside = "[no call path]", .no_steps = ""},
};
