#include "formats/text_owners.h"

#include "lib/input/fields.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { MOST = 1000 /* more are not counted */ };
static const char *const words[MT_TEXT_OWNER_WORDS] = {"rank", "pid"};

/* The number behind the word, as in "[rank0]:" and "rank = 0"; -1: there is none. */
static int64_t number_behind(const char *line, size_t line_n, const char *word)
{
    const size_t n = strlen(word);
    int64_t number;
    for (size_t i = 0; i + n < line_n; i++) {
        if (strncasecmp(line + i, word, n) != 0 || (i && isalpha((unsigned char)line[i - 1])))
            continue;
        struct mt_fields f = mt_fields_of(line + i + n, line_n - i - n);
        while (f.p < f.end && memchr(" :=", *f.p, 3))
            f.p++;
        if (f.p < f.end && isdigit((unsigned char)*f.p) && mt_field_decimal(&f, &number))
            return number;
    }
    return -1;
}

void mt_text_owners_see(struct mt_text_owners *o, const char *line, size_t n)
{
    for (size_t i = 0; i < MT_TEXT_OWNER_WORDS; i++) {
        const int64_t number = number_behind(line, n, words[i]);
        size_t at = 0;
        while (at < o->numbers[i].n && o->numbers[i].v[at] != number)
            at++;
        if (number >= 0 && at == o->numbers[i].n && at < MOST)
            *mt_vec_push(&o->numbers[i]) = number;
    }
}

size_t mt_text_owners_n(const struct mt_text_owners *o)
{
    size_t most = 0;
    for (size_t i = 0; i < MT_TEXT_OWNER_WORDS; i++)
        most = o->numbers[i].n > most ? o->numbers[i].n : most;
    return most;
}

void mt_text_owners_free(struct mt_text_owners *o)
{
    for (size_t i = 0; i < MT_TEXT_OWNER_WORDS; i++)
        mt_vec_free(&o->numbers[i]);
}
