#include "formats/text_kernel.h"

#include "formats/text_header.h"
#include "formats/text_signs.h"
#include "lib/base/mem.h"
#include <strings.h>

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

static void use_number(struct mt_text_kernel *k, uint64_t number)
{
    k->number = number;
    k->first = k->first ? k->first : number;
    k->several |= number != k->first;
}

static void use_place(struct mt_text_kernel *k, uint64_t place)
{
    size_t i = 0;
    while (i < k->place_n && k->places[i] != place)
        i++;
    k->known = i < MT_ARRAY_LEN(k->places);
    use_number(k, i + 1);
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

/* "28" of "28 Nov" and "Nov 28", "28.11.2026", "2026" and "1763870000" of date +%s. */
static bool is_of_date(const char *word, size_t n, const char *before, const char *end)
{
    const char *next = word + n + 1;
    return (before && mt_is_month(before, (size_t)(end - before))) ||
           (next < end && mt_is_month(next, (size_t)(end - next))) ||
           (n == 4 && mt_has_form(word, end, "20")) || mt_has_form(word, end, "00.00.2000") ||
           mt_has_form(word, end, "1000000000");
}

/* Whether the word, n bytes, has a number that is none of a date or a name: "10", "loss=0.5". */
static bool is_figured(const char *word, size_t n, const char *before, const char *end)
{
    size_t digits = 0, signs = 0;
    word += n && strchr("[(", *word);
    for (size_t i = 0; i < n && word + i < end; i++) {
        digits += isdigit((unsigned char)word[i]) != 0;
        if (i + 1 < n && strchr(":-/", word[i]))
            signs += word[i] == ':' ? 2 : 1;
    }
    const bool name = isalpha((unsigned char)*word) && !memchr(word, ':', n - 1) &&
                      !memchr(word, '/', n) && !memchr(word, '=', n);
    return digits && !name && !is_of_date(word, n, before, end) &&
           !(signs > 1 && isdigit((unsigned char)*word));
}

/* What a line says besides its numbers: a hash of its letters; 0: it has other numbers, too, than
 * that at p and those of a date. */
static uint64_t words_of(const char *line, const char *p, const char *end)
{
    uint64_t hash = 1;
    const char *before = NULL;
    for (const char *s = line; s < end; s++)
        if (isalpha((unsigned char)*s))
            hash = (hash ^ (unsigned char)*s) * 0x100000001b3;
    for (const char *s = mt_take_blanks(line, p); s < p; s = mt_take_blanks(s, p)) {
        size_t n = 0;
        while (s + n < p && s[n] != ' ')
            n++;
        if (is_figured(s, n, before, p))
            return 0;
        before = s;
        s += n;
    }
    return hash;
}

/* The number behind "pid", "PID:", "pid=" or "/proc/", whatever else the line says; or NULL. */
static const char *named_pid(const char *line, const char *end)
{
    static const char proc[] = "/proc/";
    for (const char *p = line; end - p > 3; p++) {
        const char *number = p + 3;
        const bool pid =
            strncasecmp(p, "pid", 3) == 0 && (p == line || !isalpha((unsigned char)p[-1]));
        while (pid && mt_is_one_of(number, end, " :="))
            number++;
        if (begins(p, (size_t)(end - p), proc))
            number = p + sizeof proc - 1;
        if (number > p + 3 && number < end && isdigit((unsigned char)*number))
            return number;
    }
    return NULL;
}

/* The PID of a line, or its last number, if that may be one; else 0. */
static struct mt_text_kernel_head head_of(const char *line, const char *end)
{
    enum { LEAST = 100, LONGEST = 1024, NAMED = 1 };
    static const struct mt_text_kernel_head none = {0};
    struct mt_text_kernel_head head = {.words = NAMED};
    if (end - line > LONGEST)
        return none;
    const char *named = named_pid(line, end), *p = end;
    while (p > line && !isdigit((unsigned char)p[-1]))
        p--;
    while (p > line && isdigit((unsigned char)p[-1]))
        p--;
    const char *behind = mt_take_number(named ? named : p, end, &head.number);
    if (!behind || head.number < LEAST)
        return none;
    if (!named && (mt_text_is_counted(behind, end) || (p > line && strchr(".,:", p[-1]))))
        return none;
    head.words = named ? head.words : words_of(line, p, end);
    return head.words ? head : none;
}

/* A line of the kernel's, behind a line with a number. */
static void use_head(struct mt_text_kernel *k)
{
    const struct mt_text_kernel_head head = k->head, last = k->last_head;
    size_t i = 0;
    while (i < k->head_n && (k->heads[i].number != head.number || k->heads[i].words != head.words))
        i++;
    k->again += i < k->head_n && head.words == last.words && head.number != last.number;
    k->many |= i == MT_ARRAY_LEN(k->heads);
    if (i == k->head_n && !k->many)
        k->heads[k->head_n++] = head;
    k->last_head = head;
    k->head.number = 0;
}

/* Whether all numbers are such as data has, "image size 256". */
static bool are_sizes(const struct mt_text_kernel *k)
{
    uint64_t by_32 = 0, by_50 = 0;
    for (size_t i = 0; i < k->head_n; i++) {
        by_32 += k->heads[i].number % 32 == 0;
        by_50 += k->heads[i].number % 50 == 0;
    }
    return by_32 == k->head_n || by_50 == k->head_n;
}

bool mt_text_kernel_doubt(const struct mt_text_kernel *k)
{
    enum { AGAIN = 2 };
    return k->again >= AGAIN && !k->many && !are_sizes(k);
}

bool mt_text_kernel_take(struct mt_text_kernel *k, const char *line, size_t n)
{
    static const char pid[] = "Pid:\t";
    const char *end = line + n, *p;
    uint64_t number;
    if (begins(line, n, pid)) {
        p = mt_take_number(line + sizeof pid - 1, end, &number);
        k->known = p == end;
        use_number(k, number);
    } else if (begins(line, n, "Name:\t")) {
        k->known = false;
    } else if (take_rollup(line, n, &number)) {
        use_place(k, number);
    } else if (!is_figure(line, end)) {
        k->head = n ? head_of(line, end) : k->head;
    } else if (!k->known && k->head.number) {
        use_head(k);
    } else {
        return k->known;
    }
    return false;
}
