#include "lib/model/extras.h"

#include <string.h>

const char *const mt_extra_names[MT_EXTRA_N] = {
    [MT_EXTRA_TEMPORARY_N] = "temporary_n",
    [MT_EXTRA_TEMPORARY_B] = "temporary_b",
    [MT_EXTRA_TEMPORARY_MOST_N] = "temporary_most_n",
    [MT_EXTRA_READ_B] = "read_b",
    [MT_EXTRA_WRITTEN_B] = "written_b",
    [MT_EXTRA_LIFETIME_NS] = "lifetime_ns",
    [MT_EXTRA_SHORT_LIVED_N] = "short_lived_n",
    [MT_EXTRA_COPIED_B] = "copied_b",
    [MT_EXTRA_COPIES_N] = "copies_n",
    [MT_EXTRA_UNITS_N] = "units_n",
    [MT_EXTRA_EVENTS_N] = "events_n",
};

enum mt_extra mt_extra_find(const char *name)
{
    int i = 0;
    while (i < MT_EXTRA_N && strcmp(mt_extra_names[i], name) != 0)
        i++;
    return (enum mt_extra)i;
}
