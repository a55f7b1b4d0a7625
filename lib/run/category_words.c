#include "lib/run/category_words.h"

#include "lib/base/nearest.h"
#include <stdio.h>
#include <string.h>

#define BIT(name) (1u << MT_CATEGORY_##name)
#define UNKNOWN   (BIT(UNKNOWN) | BIT(NONE))

/* In the order of mt_category_words; `name`: what reports call it. */
static const struct word {
    const char *word, *name;
    unsigned set;
} words_of[] = {
    {"parameters", "parameters", BIT(PARAMETER)},
    {"parameter", "parameters", BIT(PARAMETER)},
    {"gradients", "gradients", BIT(GRADIENT)},
    {"gradient", "gradients", BIT(GRADIENT)},
    {"optimizer-state", "optimizer state", BIT(OPTIMIZER_STATE)},
    {"activations", "activations", BIT(ACTIVATION) | BIT(RECOMPUTED) | BIT(KEPT)},
    {"activation", "activation", BIT(ACTIVATION)},
    {"recomputed", "recomputed", BIT(RECOMPUTED)},
    {"activation-(recomputed)", "recomputed", BIT(RECOMPUTED)},
    {"kept", "kept", BIT(KEPT)},
    {"activation-(kept)", "kept", BIT(KEPT)},
    {"inputs", "inputs", BIT(INPUT)},
    {"input", "inputs", BIT(INPUT)},
    {"temporary", "temporary", BIT(TEMPORARY)},
    {"autograd-details", "autograd details", BIT(AUTOGRAD_DETAIL)},
    {"autograd-detail", "autograd details", BIT(AUTOGRAD_DETAIL)},
    {"unknown", "unknown", UNKNOWN},
    {"[unknown]", "unknown", UNKNOWN},
    {"other", "other", BIT(INPUT) | BIT(TEMPORARY) | BIT(AUTOGRAD_DETAIL) | UNKNOWN},
};

const char mt_category_words[] =
    "parameters gradients optimizer-state activations activation recomputed kept inputs temporary "
    "autograd-details unknown other";

static const struct word *find(const char *text, size_t n)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(words_of); i++) {
        const char *word = words_of[i].word;
        size_t same = 0;
        while (same < n && word[same] &&
               (text[same] == word[same] || (word[same] == '-' && strchr(" _", text[same]))))
            same++;
        if (same == n && !word[n])
            return &words_of[i];
    }
    return NULL;
}

static enum mt_status unknown_word(const char *text, size_t n, struct mt_err *err)
{
    const char *names[MT_ARRAY_LEN(words_of)];
    struct mt_buf hint = {0};
    char *given = mt_strndup(text, n);
    for (size_t i = 0; i < MT_ARRAY_LEN(words_of); i++)
        names[i] = words_of[i].word;
    MT_FAIL(err, MT_EUSAGE, "unknown --category '%s'", given);
    mt_did_you_mean(given, names, MT_ARRAY_LEN(names), &hint);
    mt_buf_adds(&hint, "Categories: ");
    for (const char *p = mt_category_words; *p; p++)
        mt_buf_adds(&hint, *p == ' ' ? ", " : (const char[]){*p, '\0'});
    mt_err_hint(err, "%s; separate several by commas.", hint.s);
    mt_buf_free(&hint);
    free(given);
    return MT_EUSAGE;
}

enum mt_status mt_category_set_parse(const char *list, unsigned *set,
                                     char words[MT_CATEGORY_WORDS_MAX], struct mt_err *err)
{
    struct mt_buf all = {0};
    enum mt_status st = MT_OK;
    *set = MT_CATEGORIES_ALL;
    for (const char *p = list, *next; p && st == MT_OK; p = next) {
        size_t n = strcspn(p, ",");
        const struct word *w = find(p, n);
        next = p[n] ? p + n + 1 : NULL;
        if (!w) {
            st = unknown_word(p, n, err);
        } else if ((*set & w->set) == w->set) {
            st = MT_FAIL(err, MT_EUSAGE, "--category names '%s' twice", w->name);
            mt_err_hint(err, "Name each category once.");
        } else {
            *set |= w->set;
            mt_buf_addf(&all, "%s%s", all.n ? ", " : "", w->name);
        }
    }
    snprintf(words, MT_CATEGORY_WORDS_MAX, "%s", all.n ? all.s : "");
    mt_buf_free(&all);
    return st;
}
