#include "formats/text_time.h"

#include "formats/stamp.h"
#include "lib/base/mem.h"
#include "lib/input/fields.h"
#include <ctype.h>
#include <string.h>

static const int64_t nano = 1000 * 1000 * 1000, day = 24 * 3600 * nano;
/* Numbers from there on (1973) count from the epoch, smaller ones from something else. */
static const int64_t epoch_least = 100 * 1000 * 1000 * nano;

#define DAY_TIME "[0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?"
const char mt_text_time_regex[] =
    "([0-9]{4}-[0-9]{2}-[0-9]{2}[T ]" DAY_TIME "( ?(Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?"
    "|" DAY_TIME "|[0-9]+(\\.[0-9]+)?)";

static const struct unit {
    const char *name;
    int digits; /* of its number behind the point of ns */
    int64_t ns;
} units[] = {{"s", 9, 1000 * 1000 * 1000}, {"ms", 6, 1000 * 1000}, {"us", 3, 1000}, {"ns", 0, 1}};

int64_t mt_text_time_unit(const char *s, size_t n)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(units); i++)
        if (strlen(units[i].name) == n && memcmp(units[i].name, s, n) == 0)
            return units[i].ns;
    return 0;
}

static bool read_number(struct mt_fields f, int64_t unit_ns, int64_t *ns)
{
    int digits = 0;
    for (size_t i = 0; i < MT_ARRAY_LEN(units); i++)
        digits = units[i].ns == unit_ns ? units[i].digits : digits;
    return mt_field_fraction(&f, digits, ns) && mt_field_end(&f) && *ns >= 0;
}

/* What its last digit counts. */
static int64_t resolution_of(const char *s, size_t n, int64_t unit_ns)
{
    size_t i = 0;
    while (i < n && s[i] != '.' && s[i] != ',')
        i++;
    for (i++; i < n && isdigit((unsigned char)s[i]) && unit_ns > 1; i++)
        unit_ns /= 10;
    return unit_ns;
}

bool mt_text_clock_take(struct mt_text_clock *c, const char *s, size_t n, int64_t unit_ns)
{
    int64_t ns;
    bool zoned = false;
    enum mt_text_time kind = n > 4 && s[4] == '-' ? MT_TIME_DATE
                             : memchr(s, ':', n)  ? MT_TIME_OF_DAY
                                                  : MT_TIME_NUMBER;
    bool is = kind == MT_TIME_DATE     ? mt_stamp_read(s, n, &ns, &zoned)
              : kind == MT_TIME_OF_DAY ? mt_stamp_time_of_day(s, n, &ns)
                                       : read_number(mt_fields_of(s, n), unit_ns, &ns);
    if (!is || (c->kind && c->kind != kind))
        return false;
    if (!c->kind) {
        c->first_ns = ns;
        c->zoned = zoned || (kind == MT_TIME_NUMBER && ns >= epoch_least);
        c->resolution_ns = nano;
    }
    c->kind = kind;
    int64_t resolution = resolution_of(s, n, kind == MT_TIME_NUMBER ? unit_ns : nano);
    c->resolution_ns = resolution < c->resolution_ns ? resolution : c->resolution_ns;
    int64_t since = ns - c->first_ns + c->day_ns;
    if (kind == MT_TIME_OF_DAY && since < c->now_ns - day / 2) {
        c->day_ns += day;
        since += day;
    }
    c->back = since < c->now_ns;
    c->now_ns = c->back ? c->now_ns : since;
    return true;
}

void mt_text_clock_end(const struct mt_text_clock *c, struct mt_recording *rec)
{
    rec->time_unit = "ns";
    rec->base_ns = c->zoned ? c->first_ns : 0;
    rec->resolution_ns = c->resolution_ns;
}
