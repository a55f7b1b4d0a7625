#include "cmd/glossary.h"

const struct mt_glossary_entry mt_glossary_times[] = {
    {"12ms, 1.5s, 2min",
     "after the start of the run; a bare number is nanoseconds, or what else times of the run "
     "count: instructions, bytes"},
    {"@start, @end", "before the first record, after the last"},
    {"@peak", "when the device's usage was highest"},
    {"@step 3", "the end of step 3, before the first record of the next"},
    {"@step 3:start", "its start, before its first record"},
    {"@step 3:peak", "when usage was highest within it"},
    {"@mark TEXT", "when a recorded program said so (`memtool record`), the first time"},
    {0}};
