/* Baselines and rules of any bytes: what is read can be written, read again and judged by. */
#include "lib/analysis/check.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void use_baseline(const char *text, size_t n)
{
    struct mt_repeats r = {0};
    struct mt_rules rules = {0};
    struct mt_err err = MT_ERR_INIT;
    const struct mt_rule_about about = {.op = "a"}, all = {0};
    struct mt_checked c;
    if (mt_baseline_parse("fuzz", text, n, mt_vec_push(&r.v), &err) == MT_OK) {
        struct mt_buf again = {0};
        mt_baseline_write(&r.v.v[0], &again);
        assert(mt_baseline_parse("again", again.s, again.n, mt_vec_push(&r.v), &err) == MT_OK);
        mt_buf_free(&again);
        for (int i = 0; i < MT_RULE_N; i++) {
            bool whole = i % 2 || i == MT_RULE_TEMPORARY || mt_rule_kinds[i].process;
            assert(mt_rules_add(&rules, (enum mt_rule_id)i, "1", whole ? &all : &about, &err) ==
                   MT_OK);
            mt_check_rule(&rules.v.v[i], &r, &r, false, &c);
        }
    }
    mt_rules_free(&rules);
    mt_repeats_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct mt_rules rules = {0};
    struct mt_err err = MT_ERR_INIT;
    const struct mt_rule_about about = {0};
    const char *text = (const char *)data;
    /* Not those with regular expressions: libc takes all memory for some. */
    bool regex = memmem(text, n, "op", 2) || memmem(text, n, "\\", 1);
    if (!regex && mt_rules_parse("fuzz", text, n, &about, &rules, &err) != MT_OK)
        assert(err.code != MT_OK && err.what[0] && err.hint[0]);
    mt_rules_free(&rules);
    use_baseline(text, n);
    return 0;
}
