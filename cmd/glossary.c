#include "cmd/glossary.h"

const struct mt_glossary_entry mt_glossary_times[] = {
    {"12ms, 1.5s", "after the beginning of the run; a bare number is nanoseconds"},
    {"@start, @end", "before the first record, after the last"},
    {"@peak", "when the device held most"},
    {"@step 3", "when step 3 ends, before what the next one begins with"},
    {"@step 3:start", "when it begins, before all that is recorded in it"},
    {"@step 3:peak", "when the device held most in it"},
    {0}};
