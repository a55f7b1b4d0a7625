#include "formats/stamp.h"

#include "lib/input/fields.h"
#include <string.h>

enum { NANO_DIGITS = 9, LINE_MOST = 64, YEAR_LEAST = 1970, YEAR_MOST = 2200 };
static const int64_t nano = 1000 * 1000 * 1000;

/* Seconds of the epoch with nine digits or more, which no other number alone in a line has. */
static bool read_epoch(struct mt_fields f, int64_t *ns)
{
    int64_t s;
    const char *first = f.p;
    struct mt_fields whole = f;
    return mt_field_decimal(&whole, &s) && whole.p - first >= NANO_DIGITS && s > 0 &&
           s <= UINT32_MAX && mt_field_fraction(&f, NANO_DIGITS, ns) && mt_field_end(&f);
}

/* Days since 1970-01-01 of the Gregorian calendar. */
static int64_t days_of(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = y / 400, of_era = y % 400;
    int64_t of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* So many digits. */
static bool take_digits(struct mt_fields *f, int n, int64_t *v)
{
    *v = 0;
    if (f->end - f->p < n)
        return false;
    for (int i = 0; i < n; i++, f->p++) {
        if (*f->p < '0' || *f->p > '9')
            return false;
        *v = *v * 10 + *f->p - '0';
    }
    return true;
}

/* "23:38:55.123": *ns of the day. A comma is a point. */
static bool take_clock(struct mt_fields *f, int64_t *ns)
{
    int64_t h, m, s, part = 0, digit;
    if (!take_digits(f, 2, &h) || !mt_field_take(f, ":") || !take_digits(f, 2, &m) ||
        !mt_field_take(f, ":") || !take_digits(f, 2, &s) || h > 23 || m > 59 || s > 60)
        return false;
    if (f->p < f->end && (*f->p == '.' || *f->p == ',')) {
        f->p++;
        for (int64_t unit = nano / 10; take_digits(f, 1, &digit); unit /= 10)
            part += digit * unit;
    }
    *ns = ((h * 60 + m) * 60 + s) * nano + part;
    return true;
}

static bool in_calendar(int64_t y, int64_t m, int64_t d)
{
    return y >= YEAR_LEAST && y <= YEAR_MOST && m >= 1 && m <= 12 && d >= 1 && d <= 31;
}

/* "Z", "+01:00", "-0530", "+01"; *ns is made one of UTC. false: it is something else. */
static bool take_zone(struct mt_fields *f, int64_t *ns, bool *zoned)
{
    int64_t h, m = 0;
    *zoned = true;
    if (mt_field_take(f, "Z") || mt_field_take(f, "UTC") || mt_field_take(f, "GMT"))
        return true;
    bool east = mt_field_take(f, "+"), west = !east && mt_field_take(f, "-");
    if (!east && !west) {
        *zoned = false;
        return true;
    }
    if (!take_digits(f, 2, &h))
        return false;
    mt_field_take(f, ":");
    if (f->p < f->end && !take_digits(f, 2, &m))
        return false;
    *ns += (east ? -1 : 1) * (h * 60 + m) * 60 * nano;
    return h <= 14 && m <= 59;
}

static bool read_iso(struct mt_fields f, int64_t *ns, bool *zoned)
{
    int64_t y, m, d, clock;
    if (!take_digits(&f, 4, &y) || !mt_field_take(&f, "-") || !take_digits(&f, 2, &m) ||
        !mt_field_take(&f, "-") || !take_digits(&f, 2, &d) || !in_calendar(y, m, d) ||
        f.p == f.end || (*f.p != 'T' && *f.p != ' '))
        return false;
    f.p++;
    if (!take_clock(&f, &clock))
        return false;
    *ns = days_of(y, m, d) * 24 * 3600 * nano + clock;
    return take_zone(&f, ns, zoned) && mt_field_end(&f) && *ns >= 0;
}

/* "Sun Nov 22 23:38:55 UTC 2026" */
static bool read_english(struct mt_fields f, int64_t *ns, bool *zoned)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const char *s;
    size_t n;
    int64_t m = 0, d, clock, y;
    if (!mt_field_word(&f, &s, &n) || n != 3 || !mt_field_word(&f, &s, &n) || n != 3)
        return false;
    for (int64_t i = 0; i < 12; i++)
        if (memcmp(months + 3 * i, s, 3) == 0)
            m = i + 1;
    if (!mt_field_decimal(&f, &d))
        return false;
    mt_field_blanks(&f);
    if (!take_clock(&f, &clock) || !mt_field_word(&f, &s, &n))
        return false;
    *zoned = n == 3 && (memcmp(s, "UTC", 3) == 0 || memcmp(s, "GMT", 3) == 0);
    if (!mt_field_decimal(&f, &y) || !mt_field_end(&f) || !in_calendar(y, m, d))
        return false;
    *ns = days_of(y, m, d) * 24 * 3600 * nano + clock;
    return true;
}

bool mt_stamp_read(const char *s, size_t n, int64_t *ns, bool *zoned)
{
    struct mt_fields f = mt_fields_of(s, n);
    mt_field_blanks(&f);
    *zoned = true;
    return n <= LINE_MOST &&
           (read_epoch(f, ns) || read_iso(f, ns, zoned) || read_english(f, ns, zoned));
}

bool mt_stamp_time_of_day(const char *s, size_t n, int64_t *ns)
{
    struct mt_fields f = mt_fields_of(s, n);
    return take_clock(&f, ns) && mt_field_end(&f);
}

bool mt_stamps_take(struct mt_stamps *st, const char *s, size_t n)
{
    int64_t ns;
    bool zoned;
    if (!mt_stamp_read(s, n, &ns, &zoned))
        return false;
    if (!st->any && st->round_n)
        return true;
    if (!st->any) {
        st->first_ns = ns;
        st->zoned = zoned;
    }
    st->any = true;
    st->older = ns < st->first_ns;
    st->now = st->older ? 0 : ns - st->first_ns;
    return true;
}

void mt_stamps_round(struct mt_stamps *st)
{
    if (!st->any)
        st->now = st->round_n;
    st->round_n++;
}

void mt_stamps_end(const struct mt_stamps *st, struct mt_recording *rec)
{
    rec->time_unit = st->any ? "ns" : "samples";
    rec->base_ns = st->any && st->zoned ? st->first_ns : 0;
}
