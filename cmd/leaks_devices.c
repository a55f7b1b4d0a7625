/* memtool leaks: the devices that are not shown. A leak on one of them is a leak of the run. */
#include "cmd/common.h"
#include "cmd/leaks.h"
#include "lib/base/human.h"
#include "lib/model/recording.h"
#include <stdlib.h>

void mt_leaks_note_device(struct mt_report *r, const char *device, int64_t min_b,
                          const struct mt_leaks_answer *answer)
{
    char least[MT_HUMAN_MAX];
    if (answer->leaking)
        mt_report_note(r, MT_LEAKS_THERE "%s; --device %s shows it.", device, device);
    else if (answer->unknown)
        mt_report_note(r, MT_LEAKS_PERHAPS "%s leaks; --device %s shows what is known.", device,
                       device);
    else if (min_b > 0)
        mt_report_note(r, "No leak of %s or more on %s; --device %s shows it.",
                       mt_human_bytes(min_b, least), device, device);
    else
        mt_report_note(r, "No leak on %s; --device %s shows it.", device, device);
}

enum mt_status mt_leaks_other_devices(struct mt_allocations *lives,
                                      const struct mt_run_device *shown,
                                      const struct mt_leaks_wanted *w, struct mt_report *r,
                                      struct mt_leaks_answer *answer, struct mt_err *err)
{
    struct mt_run_device *all = NULL;
    size_t n = 0;
    const struct mt_narrow narrow = mt_narrow_of(shown);
    enum mt_status st = mt_run_devices(lives->db, lives->run, &all, &n, err);
    for (size_t i = 0; i < n && st == MT_OK; i++) {
        struct mt_leaks_answer one;
        if (all[i].id == shown->id || !mt_device_is(all[i].name, w->device, false))
            continue;
        MT_TRY_OUT(mt_narrow_device(lives->db, lives->run, &narrow, &all[i], err));
        st = mt_leaks_answer_device(lives, &all[i], w->keys, w->key_n, w->min_b, w->warmup, &one,
                                    err);
        mt_leaks_note_device(r, all[i].name, w->min_b, &one);
        mt_leaks_answer_add(answer, &one);
    }
out:
    free(all);
    return st;
}
