#include "formats/text_kernel.h"

#include "formats/text_signs.h"
#include "lib/base/mem.h"

static bool begins(const char *line, size_t n, const char *text)
{
    return n >= strlen(text) && memcmp(line, text, strlen(text)) == 0;
}

static const char *take_hex(const char *p, const char *end, uint64_t *number)
{
    static const char digits[] = "0123456789abcdef";
    const char *from = p;
    for (*number = 0; mt_is_one_of(p, end, digits); p++)
        *number = *number << 4 | (uint64_t)(strchr(digits, *p) - digits);
    return p > from ? p : NULL;
}

/* "5632e63d6000-7ffea98c6000 ---p 00000000 00:00 0  [rollup]": what it is known by, as proc_text.c
 * has it: where the stack ends, which stays, or where memory begins if stacks are not moved. */
static bool take_rollup(const char *line, size_t n, uint64_t *place)
{
    static const char name[] = "[rollup]";
    static const uint64_t unmoved[] = {0x7ffffffff000, 0x1000000000000};
    const char *end = line + n, *p;
    uint64_t from;
    if (n < sizeof name || memcmp(end - sizeof name + 1, name, sizeof name - 1) != 0)
        return false;
    p = take_hex(line, end, &from);
    if (!p || !mt_is_one_of(p, end, "-") || !take_hex(p + 1, end, place))
        return false;
    for (size_t i = 0; i < MT_ARRAY_LEN(unmoved); i++)
        *place = *place == unmoved[i] ? from : *place;
    return true;
}

static void use_place(struct mt_text_kernel *k, uint64_t place)
{
    size_t i = 0;
    while (i < k->place_n && k->places[i] != place)
        i++;
    k->known = i < MT_ARRAY_LEN(k->places);
    k->number = i + 1;
    if (i < k->place_n || !k->known)
        return;
    k->places[k->place_n++] = place;
}

/* "VmRSS:\t    4132 kB", "Rss:                4132 kB" */
static bool is_figure(const char *line, const char *end)
{
    const char *p = line, *blanks;
    uint64_t kib;
    while (p < end && (isalpha((unsigned char)*p) || *p == '_'))
        p++;
    if (p == line || !mt_is_one_of(p, end, ":"))
        return false;
    blanks = ++p;
    while (mt_is_one_of(p, end, " \t"))
        p++;
    if (p == blanks || (*blanks != '\t' && p - blanks < 2))
        return false;
    for (kib = 0; p < end && isdigit((unsigned char)*p); p++)
        kib++;
    return kib && end - p == 3 && memcmp(p, " kB", 3) == 0;
}

/* The last number of a line, if it may be a PID; else 0. */
static uint64_t last_number(const char *line, const char *end)
{
    enum { LEAST = 100 };
    const char *p = end;
    uint64_t number;
    while (p > line && !isdigit((unsigned char)p[-1]))
        p--;
    while (p > line && isdigit((unsigned char)p[-1]))
        p--;
    if (!mt_take_number(p, end, &number) || number < LEAST)
        return 0;
    return p > line && strchr(".,:", p[-1]) ? 0 : number;
}

/* A line of the kernel's, behind a line with a number. */
static void use_head(struct mt_text_kernel *k)
{
    size_t i = 0;
    while (i < k->head_n && k->heads[i] != k->head)
        i++;
    k->again += i < k->head_n && k->head != k->last_head;
    k->many |= i == MT_ARRAY_LEN(k->heads);
    if (i == k->head_n && !k->many)
        k->heads[k->head_n++] = k->head;
    k->last_head = k->head;
    k->head = 0;
}

bool mt_text_kernel_doubt(const struct mt_text_kernel *k)
{
    enum { AGAIN = 2 };
    return k->again >= AGAIN && !k->many;
}

bool mt_text_kernel_take(struct mt_text_kernel *k, const char *line, size_t n)
{
    static const char pid[] = "Pid:\t";
    const char *end = line + n, *p;
    uint64_t number;
    if (begins(line, n, pid)) {
        p = mt_take_number(line + sizeof pid - 1, end, &number);
        k->known = p == end;
        k->number = number;
    } else if (begins(line, n, "Name:\t")) {
        k->known = false;
    } else if (take_rollup(line, n, &number)) {
        use_place(k, number);
    } else if (!is_figure(line, end)) {
        k->head = n ? last_number(line, end) : k->head;
    } else if (!k->known && k->head) {
        use_head(k);
    } else {
        return k->known;
    }
    return false;
}
