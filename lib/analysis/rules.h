/*
 * rules.h - the rules of memtool check: what may not be exceeded (docs/ci.md).
 */
#ifndef MT_RULES_H
#define MT_RULES_H

#include "lib/analysis/baseline.h"

enum mt_rule_id {
    MT_RULE_PEAK,
    MT_RULE_PEAK_GROWTH,
    MT_RULE_PER_STEP,
    MT_RULE_ALLOC_GROWTH,
    MT_RULE_ALLOC_COUNT_GROWTH,
    MT_RULE_AT_END_GROWTH,
    MT_RULE_AT_END,
    MT_RULE_TEMPORARY,
    MT_RULE_RSS,
    MT_RULE_RSS_GROWTH,
    MT_RULE_RSS_PER_STEP,
    MT_RULE_RSS_PER_MINUTE,
    MT_RULE_N
};

struct mt_rule_kind {
    const char *name;      /* key in the file, option on the command line */
    enum mt_figure figure; /* one of baselines, or mt_baseline_has_other: of whole devices */
    bool growth;           /* the limit is about the growth since the baseline */
    bool count;            /* in pieces, not bytes */
    bool steps; /* grows with the length of a run: comparable for the same number of steps only */
    const char *what;         /* "peak" */
    const char *arg, *sample; /* placeholder and example of a limit: "SIZE", "2GiB" */
    bool process;             /* of processes only */
};
extern const struct mt_rule_kind mt_rule_kinds[MT_RULE_N];

struct mt_rule {
    const struct mt_rule_kind *kind;
    char *name;                     /* NULL: it has none */
    char *limit;                    /* as written: "5%" */
    double percent;                 /* of the baseline; -1: `amount` is meant */
    int64_t amount;                 /* bytes or pieces */
    char *device, *op, *scope;      /* NULL: every device; everything */
    struct mt_narrow narrow;        /* the categories that it is about */
    void *op_finder, *scope_finder; /* compiled; NULL with their text */
};

struct mt_rules {
    MT_VEC(struct mt_rule) v;
};
void mt_rules_free(struct mt_rules *r);

/* Appends a rule; texts are copied. Errors: MT_EUSAGE: the limit is none, a percentage of nothing,
 * or a regular expression is none, or there is no such category. */
struct mt_rule_about {
    const char *name, *device, *op, *scope, *category; /* NULL: not given */
};
enum mt_status mt_rules_add(struct mt_rules *r, enum mt_rule_id kind, const char *limit,
                            const struct mt_rule_about *about, struct mt_err *err);

/* Appends the rules of a file, or of n bytes; what they do not say is taken from `about` (its name
 * is not used). Errors: MT_EIO, MT_EINPUT with line and key; MT_EUSAGE as above, with line. */
enum mt_status mt_rules_read(const char *path, const struct mt_rule_about *about,
                             struct mt_rules *r, struct mt_err *err);
enum mt_status mt_rules_parse(const char *path, const char *text, size_t n,
                              const struct mt_rule_about *about, struct mt_rules *r,
                              struct mt_err *err);

/* Adds the categories that rules are about, each choice once; those about all memory have none. */
void mt_rules_categories(const struct mt_rules *r, struct mt_narrows *out);

/* Whether the rule is about a site. Rules without op and scope are about all of them. */
bool mt_rule_is_about(const struct mt_rule *rule, const struct mt_baseline_site *site);

#endif
