#include "lib/model/steps_advice.h"

#include "lib/model/recording.h"
#include <string.h>

#define MARK_IN_LOOP "prof.step() marks those of the loop, but only in a profile with a schedule"
#define MARK_IN_SNAPSHOT                                                                           \
    "record_function(f\"ProfilerStep#{n}\") around each iteration marks those of the loop"

const char *mt_steps_advice(const struct mt_steps_source *from)
{
    bool own = from->marker && *from->marker;
    bool optimizers = own && from->any && strcmp(from->marker, MT_STEPS_OF_OPTIMIZERS) == 0;
    if (optimizers && from->rounds)
        return from->snapshot ? "from one round of the optimizers to the next; " MARK_IN_SNAPSHOT
                              : "from one round of the optimizers to the next; " MARK_IN_LOOP;
    if (optimizers)
        return from->snapshot ? "from one optimizer step to the next; " MARK_IN_SNAPSHOT
                              : "from one optimizer step to the next; " MARK_IN_LOOP;
    if (from->any)
        return NULL;
    if (from->snapshot)
        return own ? "only scopes of record_function() can match, where the snapshot has any"
                   : "record_function(f\"ProfilerStep#{n}\") around each iteration marks them; "
                     "import "
                     "--step-marker REGEX takes any other scope";
    return own ? "any name of `memtool table --by name --format csv` can match"
               : "prof.step() marks them, but only in a profile with a schedule; import "
                 "--step-marker REGEX takes any other name";
}
