#include "lib/analysis/older_levels.h"

#include "lib/base/human.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double beyond_b = 0x1p80;

void mt_older_add(const struct mt_older_part part[2], bool most, bool ratio, double out[2])
{
    for (int s = 0; s < 2; s++) {
        int64_t bytes = most ? part[s].most_b : part[s].least_b;
        double unknown = most ? beyond_b : 0;
        out[s] = !part[s].left_out ? 0 : bytes < 0 ? unknown : (double)bytes;
    }
    if (!ratio && out[0] >= beyond_b && out[1] >= beyond_b)
        out[0] = out[1] = 0;
}

/* false: no estimate, or a change from nothing. */
static bool change_text(const struct mt_older_part part[2], bool most, const double level[2],
                        char out[MT_HUMAN_MAX])
{
    double add[2];
    char number[MT_HUMAN_MAX];
    for (int s = 0; s < 2; s++)
        if (part[s].left_out && (most ? part[s].most_b : part[s].least_b) < 0)
            return false;
    mt_older_add(part, most, true, add);
    double was = level[0] + add[0], is = level[1] + add[1];
    if (was <= 0)
        return false;
    double percent = 100 * (is - was) / was;
    snprintf(out, MT_HUMAN_MAX, "%s%s %%", percent > 0 ? "+" : "",
             mt_human_decimal(percent, fabs(percent) >= 1000 ? 0 : 1, number));
    return true;
}

bool mt_older_change(const struct mt_older_part part[2], const double level[2], struct mt_buf *out)
{
    char a[MT_HUMAN_MAX], b[MT_HUMAN_MAX];
    if ((!part[0].left_out && !part[1].left_out) || !change_text(part, false, level, a))
        return false;
    mt_buf_adds(out, a);
    if (change_text(part, true, level, b) && strcmp(a, b) != 0)
        mt_buf_addf(out, " to %s", b);
    return true;
}
