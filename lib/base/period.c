#include "lib/base/period.h"

#include "lib/base/mem.h"
#include <stdlib.h>

size_t mt_period_of(const uint64_t *keys, size_t n)
{
    if (n < 2)
        return 1;
    size_t *border = mt_alloc((n + 1) * sizeof *border); /* of each prefix, the longest of its ends
                                                            that it begins with */
    for (size_t i = 1, k = 0; i < n; i++) {
        while (k && keys[i] != keys[k])
            k = border[k];
        k += keys[i] == keys[k];
        border[i + 1] = k;
    }
    size_t period = n - border[n];
    free(border);
    return period;
}
