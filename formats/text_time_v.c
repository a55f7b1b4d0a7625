/*
 * Lines of /usr/bin/time -v. docs/formats/memory-text.md says which are read.
 */
#include "formats/text_time_v.h"

#include <string.h>

static const int64_t ms = 1000 * 1000; /* ns */

/* "h:mm:ss" or "m:ss.cc" */
static bool take_elapsed(struct mt_fields *f, int64_t *ns)
{
    enum { SECONDS = 9 };
    int64_t part, sum = 0;
    const char *colon;
    while ((colon = memchr(f->p, ':', (size_t)(f->end - f->p)))) {
        if (!mt_field_decimal(f, &part) || part < 0 || part > INT32_MAX || sum > INT32_MAX ||
            !mt_field_take(f, ":"))
            return false;
        sum = sum * 60 + part;
    }
    if (!mt_field_fraction(f, SECONDS, ns) || sum > INT32_MAX || *ns < 0)
        return false;
    *ns += sum * 60 * 1000 * ms;
    return true;
}

bool mt_text_time_v(struct mt_fields f, int64_t offset, struct mt_recording *rec,
                    int64_t *elapsed_ns)
{
    const char *s;
    size_t n;
    if (mt_field_take(&f, "Elapsed (wall clock) time (h:mm:ss or m:ss):")) {
        if (!take_elapsed(&f, elapsed_ns) || !mt_field_end(&f)) {
            *elapsed_ns = -1;
            mt_rec_note(rec, MT_NOTE_SKIPPED, offset, 0);
        }
        return true;
    }
    if (mt_field_take(&f, "Command being timed:")) {
        mt_field_rest(&f, &s, &n);
        bool quoted = n > 1 && s[0] == '"' && s[n - 1] == '"';
        mt_rec_meta_text(rec, "cmd", s + quoted, n - 2 * (size_t)quoted);
        return true;
    }
    if (!mt_field_take(&f, "Exit status:"))
        return false;
    mt_field_rest(&f, &s, &n);
    mt_rec_meta_text(rec, "exit_status", s, n);
    return true;
}
