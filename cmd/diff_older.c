/* memtool diff: what two runs leave out, or count, that is older than they are. */
#include "cmd/diff.h"
#include "lib/human.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static int64_t kept_of(const struct mt_diff_side *s)
{
    return mt_run_kept(&s->run, &s->device);
}

/* The side that counts it while the other leaves some out; -1: neither. */
static int counting_side(const struct mt_diff *d)
{
    for (int s = 0; s < 2; s++)
        if (kept_of(&d->side[s]) && d->side[!s].device.older_used)
            return s;
    return -1;
}

bool mt_diff_counts_differ(const struct mt_diff *d)
{
    return counting_side(d) >= 0;
}

/* Peaks with what is estimated to be older, the least or the most of it; false: there is no
 * estimate. */
static bool whole_peaks(const struct mt_diff *d, bool most, int64_t out[2])
{
    bool any = false;
    for (int s = 0; s < 2; s++) {
        const struct mt_run_device *device = &d->side[s].device;
        int64_t older_b = most ? device->older_most_b : device->older_least_b;
        out[s] = device->peak_b;
        if (!device->older_used)
            continue;
        if (older_b < 0 || older_b > INT64_MAX / 4 || out[s] < 0 || out[s] > INT64_MAX / 4)
            return false;
        out[s] += older_b;
        any = true;
    }
    return any && out[0] > 0;
}

static const char *percent_text(const int64_t peak[2], char out[MT_HUMAN_MAX])
{
    double percent = 100 * ((double)peak[1] - (double)peak[0]) / (double)peak[0];
    char number[MT_HUMAN_MAX];
    snprintf(out, MT_HUMAN_MAX, "%s%s %%", percent > 0 ? "+" : "",
             mt_human_decimal(percent, fabs(percent) >= 1000 ? 0 : 1, number));
    return out;
}

void mt_diff_note_older(const struct mt_diff *d, struct mt_report *r)
{
    int64_t least[2], most[2];
    char a[MT_HUMAN_MAX], b[MT_HUMAN_MAX];
    int counting = counting_side(d);
    if (counting >= 0) {
        mt_report_note(r,
                       "%s counts %s that is older than itself, %s leaves out what is: their peaks "
                       "do not compare.",
                       d->side[counting].run.name, mt_human_bytes(kept_of(&d->side[counting]), a),
                       d->side[!counting].run.name);
        return;
    }
    if (!whole_peaks(d, false, least) || least[0] == least[1])
        return;
    percent_text(least, a);
    if (!whole_peaks(d, true, most) || !strcmp(a, percent_text(most, b)))
        mt_report_note(r, "With what is estimated to be older the peak changes by %s.", a);
    else
        mt_report_note(r, "With what is estimated to be older the peak changes by %s to %s.", a, b);
}
