/* memtool diff: what two runs leave out, or count, that is older than they are. */
#include "cmd/diff.h"
#include "lib/analysis/older_levels.h"
#include "lib/base/human.h"
#include <string.h>

static int64_t kept_of(const struct mt_diff_side *s)
{
    return mt_run_kept(&s->run, &s->device);
}

static void parts_of(const struct mt_diff *d, struct mt_older_part out[2])
{
    for (int s = 0; s < 2; s++) {
        const struct mt_run_device *device = &d->side[s].device;
        out[s] = (struct mt_older_part){device->older_used != 0, device->older_least_b,
                                        device->older_most_b};
    }
}

void mt_diff_note_older(const struct mt_diff *d, struct mt_report *r)
{
    struct mt_older_part part[2];
    struct mt_buf text = {0};
    char a[MT_HUMAN_MAX];
    int counting = mt_diff_counting_side(d);
    if (counting >= 0) {
        mt_report_note(r,
                       "%s includes %s allocated before its recording, %s excludes such memory: "
                       "their peaks are not comparable.",
                       d->side[counting].run.name, mt_human_bytes(kept_of(&d->side[counting]), a),
                       d->side[!counting].run.name);
        return;
    }
    if (mt_diff_has_older_apart(d)) {
        mt_report_note(r,
                       "What is older than the recordings is in no category, but may be of %s: "
                       "it is not compared.",
                       strchr(mt_device_categories(&d->side[0].device), ',') ? "these categories"
                                                                             : "this category");
        return;
    }
    const double peak[2] = {(double)d->side[0].device.peak_b, (double)d->side[1].device.peak_b};
    parts_of(d, part);
    if (peak[0] >= 0 && peak[1] >= 0 && mt_older_change(part, peak, &text) &&
        strcmp(text.s, "0 %") != 0)
        mt_report_note(
            r, "With the estimates of what was allocated before, the peak changes by %s.", text.s);
    mt_buf_free(&text);
}
