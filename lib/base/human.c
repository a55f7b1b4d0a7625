#include "lib/base/human.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

__extension__ typedef unsigned __int128 wide;

struct unit {
    const char *name;
    uint64_t size;
};

static const struct unit byte_units[] = {
    {"B", 1},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {"PiB", UINT64_C(1) << 50},
    {"EiB", UINT64_C(1) << 60},
};

static const struct unit time_units[] = {
    {"ns", 1},
    {"us", 1000},
    {"ms", 1000 * 1000},
    {"s", 1000 * 1000 * 1000},
};

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

static bool exactly;

void mt_human_exactly(bool on)
{
    exactly = on;
}

/* Digits in groups of three; returns their number, separators included. */
static int grouped(uint64_t v, char *out)
{
    char digits[24], *to = out;
    int len = snprintf(digits, sizeof digits, "%" PRIu64, v);
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return (int)(to - out);
}

/* n_units of them may be chosen from. */
static const char *figure(int64_t v, const struct unit *units, size_t n_units, char *out)
{
    static const unsigned tens[] = {1, 10, 100, 1000};
    uint64_t m = magnitude(v);
    size_t k = 0;
    while (k + 1 < n_units && m >= units[k + 1].size)
        k++;
    uint64_t size = units[k].size, whole = m / size;
    int decimals = k == 0 || whole >= 1000 ? 0 : whole >= 100 ? 1 : whole >= 10 ? 2 : 3;
    uint64_t scaled = (uint64_t)(((wide)m * tens[decimals] + size / 2) / size);
    if (k + 1 < n_units && scaled == units[k + 1].size / size * tens[decimals]) {
        k++;
        scaled = 1;
        decimals = 0;
    }
    while (decimals > 0 && scaled % 10 == 0) {
        scaled /= 10;
        decimals--;
    }
    int n = v < 0;
    out[0] = '-';
    n += grouped(scaled / tens[decimals], out + n);
    if (decimals > 0)
        out[n++] = '.';
    for (int d = decimals - 1; d >= 0; d--)
        out[n++] = (char)('0' + scaled / tens[d] % 10);
    snprintf(out + n, MT_HUMAN_MAX - (size_t)n, " %s", units[k].name);
    return out;
}

const char *mt_human_bytes(int64_t bytes, char out[MT_HUMAN_MAX])
{
    return figure(bytes, byte_units, exactly ? 1 : MT_ARRAY_LEN(byte_units), out);
}

const char *mt_human_bytes_round(int64_t bytes, char out[MT_HUMAN_MAX])
{
    return figure(bytes, byte_units, MT_ARRAY_LEN(byte_units), out);
}

const char *mt_human_ns(int64_t ns, char out[MT_HUMAN_MAX])
{
    return figure(ns, time_units, exactly ? 1 : MT_ARRAY_LEN(time_units), out);
}

const char *mt_human_count(int64_t n, char out[MT_HUMAN_MAX])
{
    out[0] = '-';
    grouped(magnitude(n), out + (n < 0));
    return out;
}

const char *mt_human_decimal(double v, int decimals, char out[MT_HUMAN_MAX])
{
    char digits[MT_HUMAN_MAX];
    if (!(fabs(v) < 1e15)) { /* beyond what a double knows exactly; inf, nan */
        snprintf(out, MT_HUMAN_MAX, "%.4g", v);
        return out;
    }
    snprintf(digits, sizeof digits, "%.*f", decimals, fabs(v));
    bool zero = strspn(digits, "0.") == strlen(digits);
    int n = v < 0 && !zero;
    out[0] = '-';
    n += grouped(strtoull(digits, NULL, 10), out + n);
    snprintf(out + n, MT_HUMAN_MAX - (size_t)n, "%s", digits + strcspn(digits, "."));
    return out;
}

int mt_percent_decimals(double percent)
{
    enum { DECIMALS_MAX = 6 };
    double size = fabs(percent);
    int decimals = size >= 1000 ? 0 : 1;
    for (double unit = 0.1; size < 0.95 * unit && decimals <= DECIMALS_MAX; unit /= 10)
        decimals++;
    return decimals <= DECIMALS_MAX ? decimals : -1;
}

const char *mt_human_number(double v, char out[MT_HUMAN_MAX])
{
    double size = fabs(v);
    int decimals = 3;
    for (double unit = 10; size >= unit && decimals > 0; unit *= 10)
        decimals--;
    for (double unit = 1; size >= 1e-4 && size < unit; unit /= 10)
        decimals++;
    if (size > 0 && size < 1e-4) {
        snprintf(out, MT_HUMAN_MAX, "%.4g", v);
        return out;
    }
    mt_human_decimal(v, decimals, out);
    if (strchr(out, '.')) {
        size_t n = strlen(out);
        while (out[n - 1] == '0')
            out[--n] = '\0';
        if (out[n - 1] == '.')
            out[--n] = '\0';
    }
    return out;
}

const char *mt_human_plural(int64_t n, const char *thing, char out[MT_HUMAN_LONG])
{
    char count[MT_HUMAN_MAX];
    const char *ending = n == 1 ? "" : thing[0] && thing[strlen(thing) - 1] == 's' ? "es" : "s";
    snprintf(out, MT_HUMAN_LONG, "%s %s%s", mt_human_count(n, count), thing, ending);
    return out;
}

const char *mt_human_with_exact(int64_t bytes, char out[MT_HUMAN_LONG])
{
    char human[MT_HUMAN_MAX], exact[MT_HUMAN_MAX];
    mt_human_bytes(bytes, human);
    if (exactly || magnitude(bytes) < byte_units[1].size)
        snprintf(out, MT_HUMAN_LONG, "%s", human);
    else
        snprintf(out, MT_HUMAN_LONG, "%s (%s B)", human, mt_human_count(bytes, exact));
    return out;
}

static bool size_factor(const char *unit, uint64_t *factor)
{
    *factor = 1;
    if (!*unit || strcasecmp(unit, "B") == 0)
        return true;
    static const char prefixes[] = "KMGTPE";
    const char *p = strchr(prefixes, toupper((unsigned char)unit[0]));
    const char *rest = unit + 1;
    bool decimal = strcasecmp(rest, "B") == 0;
    if (!p || (!decimal && *rest && strcasecmp(rest, "i") != 0 && strcasecmp(rest, "iB") != 0))
        return false;
    for (const char *q = prefixes; q <= p; q++)
        *factor *= decimal ? 1000 : 1024;
    return true;
}

static bool time_factor(const char *unit, uint64_t *factor)
{
    static const struct unit names[] = {
        {"", 1},
        {"ns", 1},
        {"us", 1000},
        {"\u00b5s", 1000},
        {"\u03bcs", 1000},
        {"ms", 1000 * 1000},
        {"s", 1000 * 1000 * 1000},
        {"min", UINT64_C(60) * 1000 * 1000 * 1000},
        {"h", UINT64_C(3600) * 1000 * 1000 * 1000},
    };
    for (size_t i = 0; i < MT_ARRAY_LEN(names); i++) {
        if (strcmp(unit, names[i].name) == 0) {
            *factor = names[i].size;
            return true;
        }
    }
    return false;
}

/* Digits, perhaps a fraction. *den stays small enough for (fraction * factor) to fit `wide`:
 * what comes after 18 decimals cannot change a result below 2^63 units by one. */
static bool decimal(const char **text, uint64_t *whole, uint64_t *num, uint64_t *den)
{
    const char *s = *text;
    *whole = *num = 0;
    *den = 1;
    for (; isdigit((unsigned char)*s); s++) {
        unsigned digit = (unsigned)(*s - '0');
        if (*whole > (UINT64_MAX - digit) / 10)
            return false;
        *whole = *whole * 10 + digit;
    }
    bool any = s > *text;
    if (*s == '.') {
        s++;
        any = isdigit((unsigned char)*s);
        for (; isdigit((unsigned char)*s); s++) {
            if (*den < UINT64_C(1000000000000000000)) {
                *num = *num * 10 + (unsigned)(*s - '0');
                *den *= 10;
            }
        }
    }
    *text = s;
    return any;
}

static bool parse_figure(const char *text, bool (*factor_of)(const char *, uint64_t *),
                         int64_t *out)
{
    bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    uint64_t whole, num, den, factor;
    if (!decimal(&text, &whole, &num, &den))
        return false;
    if (text[0] == ' ' && text[1])
        text++;
    if (!factor_of(text, &factor) || (den > 1 && factor == 1))
        return false;
    wide m = (wide)whole * factor + ((wide)num * factor + den / 2) / den;
    if (m > (wide)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)(0 - (uint64_t)m) : (int64_t)m;
    return true;
}

bool mt_parse_size(const char *text, int64_t *bytes)
{
    return parse_figure(text, size_factor, bytes);
}

bool mt_parse_percent(const char *text, double *percent)
{
    char *end;
    if (!isdigit((unsigned char)*text) || strpbrk(text, "xXeE"))
        return false;
    *percent = strtod(text, &end);
    end += *end == ' ';
    return strcmp(end, "%") == 0 && *percent <= 1e9;
}

static bool no_factor(const char *unit, uint64_t *factor)
{
    *factor = 1;
    return !*unit;
}

/* "1,200 instructions", "1200"; of samples also "sample 12" */
static bool parse_count(const char *unit, const char *text, int64_t *out)
{
    static const char one[] = "sample ";
    char digits[MT_HUMAN_MAX];
    if (strcmp(unit, "samples") == 0 && strncmp(text, one, sizeof one - 1) == 0)
        return parse_count("", text + sizeof one - 1, out);
    size_t n = strlen(text), unit_n = strlen(unit), kept = 0;
    if (n >= unit_n && strcmp(text + n - unit_n, unit) == 0) {
        n -= unit_n;
        n -= n && text[n - 1] == ' ';
    }
    if (!n || n >= sizeof digits || text[0] == ',' || text[n - 1] < '0' || text[n - 1] > '9')
        return false;
    for (size_t i = 0; i < n; i++)
        if (text[i] != ',')
            digits[kept++] = text[i];
    digits[kept] = '\0';
    return parse_figure(digits, no_factor, out);
}

bool mt_parse_time(const char *unit, const char *text, int64_t *t)
{
    bool ns = !*unit || strcmp(unit, "ns") == 0;
    return ns ? parse_figure(text, time_factor, t) : parse_count(unit, text, t);
}
