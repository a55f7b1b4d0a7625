#include "formats/rows.h"

#include "lib/input/fields.h"

static const int64_t count_max = INT64_C(1) << 60; /* more cannot be true */

bool mt_row_has(const struct mt_row *row, enum mt_rows_column c)
{
    return row->v[c].s && row->v[c].n;
}

static struct mt_fields fields_of(const struct mt_row *row, enum mt_rows_column c)
{
    return mt_fields_of(row->v[c].s, row->v[c].n);
}

bool mt_row_count(const struct mt_row *row, enum mt_rows_column c, int64_t *v)
{
    struct mt_fields f = fields_of(row, c);
    if (mt_field_take(&f, "-") || !mt_field_decimal(&f, v) || *v > count_max)
        return false;
    if (mt_field_take(&f, ".0"))
        while (f.p < f.end && *f.p == '0')
            f.p++;
    return mt_field_end(&f);
}

bool mt_row_address(const struct mt_row *row, enum mt_rows_column c, uint64_t *v)
{
    struct mt_fields f = fields_of(row, c);
    int64_t decimal;
    if (mt_field_address(&f, v))
        return mt_field_end(&f);
    if (!mt_field_decimal(&f, &decimal) || decimal < 0)
        return false;
    *v = (uint64_t)decimal;
    return mt_field_end(&f);
}

bool mt_row_time(const struct mt_row *row, int64_t *t)
{
    struct mt_fields f = fields_of(row, MT_COL_TIME), e = f;
    int digits = row->time_digits;
    int64_t exponent = 0;
    const char *s;
    size_t n;
    bool has_exponent = mt_field_until(&e, 'e', &s, &n);
    if (!has_exponent) {
        e = f;
        has_exponent = mt_field_until(&e, 'E', &s, &n);
    }
    if (has_exponent) {
        if (!mt_field_decimal(&e, &exponent) || !mt_field_end(&e) || exponent < -64 ||
            exponent > 64)
            return false;
        f = mt_fields_of(s, n);
    }
    digits += (int)exponent;
    if (digits < 0) { /* less than a nanosecond, or so many digits that it may be more */
        if (!mt_field_fraction(&f, 0, t))
            return false;
        for (; digits < 0; digits++)
            *t /= 10;
        return mt_field_end(&f);
    }
    return mt_field_fraction(&f, digits, t) && mt_field_end(&f);
}

bool mt_row_figure(const struct mt_row *row, enum mt_rows_column c, int64_t *v)
{
    *v = MT_UNKNOWN;
    return !mt_row_has(row, c) || mt_row_count(row, c, v);
}
