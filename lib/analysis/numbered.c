#include "lib/analysis/numbered.h"

#include <stdbool.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* How many of the n bytes of a word are no number. */
static size_t name_of(const char *word, size_t n)
{
    enum { NAME = 3 };
    size_t letters = 0, digits;
    while (letters < n && is_letter(word[letters]))
        letters++;
    for (digits = letters; digits < n && is_digit(word[digits]);)
        digits++;
    return letters == n || (digits == n && letters >= NAME) ? letters : 0;
}

/* The same where only digits alone are numbers, and none behind a colon. */
static size_t name_of_site(const char *word, size_t n, char before)
{
    size_t digits = 0;
    while (digits < n && is_digit(word[digits]))
        digits++;
    return digits == n && before != ':' ? 0 : n;
}

static void add(struct mt_buf *out, const char *text, bool scope)
{
    char before = 0;
    while (*text) {
        size_t n = 0;
        while (is_letter(text[n]) || is_digit(text[n]))
            n++;
        size_t name = scope ? name_of(text, n) : name_of_site(text, n, before);
        mt_buf_add(out, text, n ? name : 1);
        if (name < n)
            mt_buf_addc(out, '#');
        text += n ? n : 1;
        before = text[-1];
    }
}

void mt_numbered_scope_add(struct mt_buf *out, const char *scope)
{
    add(out, scope, true);
}

void mt_numbered_site_add(struct mt_buf *out, const char *site)
{
    static const char in[] = " in ";
    const char *scope = strstr(site, in);
    if (!scope) {
        add(out, site, false);
        return;
    }
    scope += strlen(in);
    mt_buf_add(out, site, (size_t)(scope - site));
    add(out, scope, true);
}
