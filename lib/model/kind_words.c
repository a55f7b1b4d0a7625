#include "lib/model/kind_words.h"

#include <stdio.h>
#include <string.h>

const struct mt_kind_words mt_kind_words[MT_RUN_KIND_N] = {
    [MT_RUN_TRACE] = {.noun = "PyTorch trace",
                      .level = "allocated",
                      .allocators = "operators",
                      .outside = "[outside ops]",
                      .no_steps = "Record with prof.step() in a profile with a schedule, or import "
                                  "with --step-marker REGEX to say what a step is."},
    [MT_RUN_SNAPSHOT] = {.noun = "allocator snapshot",
                         .level = "allocated",
                         .allocators = "functions",
                         .outside = "[outside ops]",
                         .no_steps = "Record with record_function(f\"ProfilerStep#{n}\") around "
                                     "each iteration, or import with --step-marker REGEX to name "
                                     "another scope."},
    [MT_RUN_HEAP] = {.noun = "heap log",
                     .level = "allocated",
                     .allocators = "functions",
                     .outside = "[no call path]",
                     .no_steps = "Ask for times instead, or for all of it."},
    [MT_RUN_PROCESS] = {.noun = "process log",
                        .level = "rss",
                        .allocators = "functions",
                        .outside = "[whole process]",
                        .no_steps = "Ask for times instead, or for all of it."},
};

/* "memcheck" of "memcheck-xml": who wrote it. */
static size_t recorder_n(const char *format)
{
    size_t n = strlen(format);
    return n > 4 && strcmp(format + n - 4, "-xml") == 0 ? n - 4 : n;
}

/* Of what the system counts; formats of other recorders are heap logs, or PyTorch's. */
static bool is_of_process(const char *format)
{
    static const char *const formats[] = {"mprof",     "psrecord",     "pidstat",
                                          "proc-text", "docker-stats", "memory-text",
                                          "record",    "prometheus",   "prometheus-json"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(format, formats[i]) == 0)
            return true;
    return false;
}

/* All that tell what the system counts tell the same. */
bool mt_formats_alike(const char *a, const char *b)
{
    size_t n = recorder_n(a);
    return (n == recorder_n(b) && strncmp(a, b, n) == 0) || (is_of_process(a) && is_of_process(b));
}

void mt_format_words(const char *format, char out[96])
{
    if (strcmp(format, "pytorch-trace") == 0)
        snprintf(out, 96, "a %s", mt_kind_words[MT_RUN_TRACE].noun);
    else if (strcmp(format, "cuda-snapshot") == 0)
        snprintf(out, 96, "an %s", mt_kind_words[MT_RUN_SNAPSHOT].noun);
    else
        snprintf(out, 96, "a %s of %.*s",
                 mt_kind_words[is_of_process(format) ? MT_RUN_PROCESS : MT_RUN_HEAP].noun,
                 (int)(recorder_n(format) % 64), format);
}
