#include "formats/call_lines.h"

#include <string.h>

/* "<app>", the thread's name, which may have blanks and brackets in it, up to what is behind it. */
static void take_name(struct mt_fields *f, const char *behind)
{
    enum { LONGEST = 16 + 4 };
    size_t n = (size_t)(f->end - f->p);
    const char *end = n && *f->p == '<' ? memmem(f->p, n < LONGEST ? n : LONGEST, behind, 2) : NULL;
    if (end)
        f->p = end + 1;
}

uint64_t mt_call_pid(struct mt_fields *f)
{
    struct mt_fields at = *f;
    int64_t pid;
    if (mt_field_take(&at, "[pid ") && mt_field_decimal(&at, &pid)) {
        take_name(&at, ">]");
        if (mt_field_take(&at, "]")) {
            *f = at;
            return (uint64_t)pid;
        }
    }
    at = *f;
    if (!mt_field_decimal(&at, &pid))
        return 0;
    take_name(&at, "> ");
    if (at.p == at.end || *at.p != ' ' || pid <= 0)
        return 0;
    *f = at;
    return (uint64_t)pid;
}

bool mt_call_time(struct mt_fields *f, struct mt_call_clock *clock, int64_t *t)
{
    enum { NS = 9 };
    static const int64_t second = 1000000000, day = 86400 * INT64_C(1000000000);
    static const int64_t since_1970 = 100000000 * INT64_C(1000000000);
    struct mt_fields at = *f;
    int64_t h, m;
    if (mt_field_decimal(&at, &h) && at.p < at.end && *at.p == ':' && at.p++ &&
        mt_field_decimal(&at, &m) && at.p < at.end && *at.p == ':' && at.p++ &&
        mt_field_fraction(&at, NS, t) && h >= 0 && h < 24 && m >= 0 && m < 60) {
        clock->absolute = true;
        *t += (h * 60 + m) * 60 * second + clock->day;
        if (*t < clock->last - day / 2) { /* over midnight */
            clock->day += day;
            *t += day;
        }
    } else {
        at = *f;
        if (!mt_field_fraction(&at, NS, t) || *t < 0 || !memchr(f->p, '.', (size_t)(at.p - f->p)))
            return false;
        clock->absolute |= *t >= since_1970;
        if (*t < since_1970 &&
            (clock->absolute || __builtin_add_overflow(*t, clock->last, t))) /* strace -C's sums */
            return false;
    }
    if (at.p == at.end || *at.p != ' ')
        return false;
    clock->last = *t;
    *f = at;
    if (mt_field_take(&at, "(+") && mt_field_fraction(&at, NS, &h) && mt_field_take(&at, ")"))
        *f = at;
    return true;
}

/* "[00007f0123456789]", or "[  59]", the number of the call (strace -n) */
static bool take_place(struct mt_fields *f)
{
    struct mt_fields at = *f;
    uint64_t place;
    if (!mt_field_take(&at, "[????????????????]")) { /* of a thread that has ended */
        if (!mt_field_take(&at, "[") ||
            (!mt_field_address(&at, &place) && !mt_field_hex(&at, &place)) ||
            !mt_field_take(&at, "]"))
            return false;
    }
    *f = at;
    return true;
}

void mt_call_place(struct mt_fields *f)
{
    if (take_place(f))
        take_place(f);
}

bool mt_call_ends(const struct mt_fields *f, const char *text)
{
    const size_t n = strlen(text);
    return (size_t)(f->end - f->p) >= n && memcmp(f->end - n, text, n) == 0;
}

const char *mt_call_resumed(const struct mt_fields *f, size_t *n)
{
    static const char begins[] = "<... ", ends[] = " resumed>";
    const char *at = memmem(f->p, (size_t)(f->end - f->p), begins, sizeof begins - 1), *end;
    if (!at)
        return NULL;
    at += sizeof begins - 1;
    end = memmem(at, (size_t)(f->end - at), ends, sizeof ends - 1);
    *n = end ? (size_t)(end - at) : 0;
    return end ? at : NULL;
}
