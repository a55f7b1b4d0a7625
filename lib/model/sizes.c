#include "lib/model/sizes.h"

#include <stdio.h>

void mt_size_name(unsigned class, char name[MT_SIZE_NAME])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    const unsigned power = class ? class - 1 : 0, unit = power / 10;
    const unsigned least = 1u << power % 10;
    if (class < 2)
        snprintf(name, MT_SIZE_NAME, "%u B", class);
    else if (unit == 0)
        snprintf(name, MT_SIZE_NAME, "%u-%u B", least, 2 * least - 1);
    else if (power % 10 == 9)
        snprintf(name, MT_SIZE_NAME, "512 %s-1 %s", units[unit], units[unit + 1]);
    else
        snprintf(name, MT_SIZE_NAME, "%u-%u %s", least, 2 * least, units[unit]);
}
