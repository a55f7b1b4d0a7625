#include "lib/base/nearest.h"

#include "lib/base/human.h"
#include <string.h>

struct near {
    size_t index;
    int distance;
};

size_t mt_nearest_of(const char *word, const char *const *names, size_t n,
                     size_t out[MT_NEAREST_MAX])
{
    struct near near[MT_NEAREST_MAX + 1]; /* one more place is scratch */
    int length = (int)strlen(word), limit = length / 3 > 2 ? length / 3 : 2;
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        int distance = mt_edit_distance(word, names[i]);
        if (distance > limit || distance >= length)
            continue;
        size_t at = found;
        for (; at > 0 && near[at - 1].distance > distance; at--)
            near[at] = near[at - 1];
        near[at] = (struct near){i, distance};
        found += found < MT_NEAREST_MAX;
    }
    for (size_t i = 0; i < found; i++)
        out[i] = near[i].index;
    return found;
}

void mt_nearest(const char *word, const char *const *names, size_t n, struct mt_buf *out)
{
    size_t near[MT_NEAREST_MAX];
    size_t found = mt_nearest_of(word, names, n, near);
    for (size_t i = 0; i < found; i++) {
        mt_buf_adds(out, i > 0 ? ", " : "");
        mt_buf_adds(out, names[near[i]]);
    }
}

void mt_did_you_mean(const char *word, const char *const *names, size_t n, struct mt_buf *out)
{
    struct mt_buf near = {0};
    mt_nearest(word, names, n, &near);
    mt_buf_adds(out, "");
    if (near.n)
        mt_buf_addf(out, "Did you mean %s? ", near.s);
    mt_buf_free(&near);
}
