#include "lib/advice/advice.h"

#include "lib/advice/evidence.h"
#include "lib/advice/processes.h"
#include "lib/base/nearest.h"
#include "lib/base/wrap.h"
#include <stdlib.h>
#include <string.h>

/* ---- rules ---- */

/* The phase of what was allocated with a record; MT_PHASE_OTHER: nothing was. */
static enum mt_phase phase_at(const struct mt_advice_facts *f, int64_t record)
{
    for (size_t i = 0; i < f->blocks.n; i++)
        if (f->blocks.v[i].alloc_record == record && f->blocks.v[i].node != MT_NONE)
            return (enum mt_phase)f->tree->nodes.v[f->blocks.v[i].node].phase;
    return MT_PHASE_OTHER;
}

/* A text that a rule wrote, or has for all programs; NULL: neither. Allocated. */
static char *text_of(const struct mt_buf *written, const char *fixed)
{
    const char *s = written->n ? written->s : fixed;
    return s ? mt_strdup(s) : NULL;
}

/* Bytes over records of a life, which may have begun before the first. */
static double area_of(const struct mt_advice_facts *f, const struct mt_life *l)
{
    int64_t from = l->from < 0 ? 0 : l->from, to = l->to < f->record_n ? l->to : f->record_n;
    return from < to ? (double)l->bytes * (double)(to - from) : 0;
}

/* How much less is held of what the plan touches, on average. */
static double less_of(const struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    double sum = 0;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        const struct mt_life was = mt_advice_life(b);
        if (p->touched[i])
            sum += area_of(f, &was) - area_of(f, &p->lives.all.v[i]);
    }
    return f->record_n ? sum / (double)f->record_n : 0;
}

/* Takes what the plan comes to. */
static void finish(const struct mt_advice_plan *p, struct mt_strtab *strings, struct mt_advice *a)
{
    const struct mt_advice_facts *f = p->f;
    int64_t record;
    a->applies = true;
    a->bound = p->bound;
    a->new_peak_b = mt_lives_peak(&p->lives, f->older_b, f->record_n, &record);
    a->saving_b = mt_wrap_sub(f->peak_b, a->new_peak_b);
    a->new_peak_ns = record < 0 ? MT_UNKNOWN : f->record_ns[record];
    a->new_peak_phase = phase_at(f, record);
    a->price_ns = p->price_ns;
    a->growth = p->growth;
    a->subject = text_of(&p->subject, NULL);
    a->because = text_of(&p->because, "");
    a->price = text_of(&p->price, a->rule->price);
    a->how = text_of(&p->how, a->rule->how);
    a->less_b = p->choice->areas ? less_of(p) : 0;
    mt_advice_find_evidence(p, strings, a);
}

static void try_rule(const struct mt_advice_facts *f, const struct mt_advice_choice *choice,
                     struct mt_strtab *strings, struct mt_advice_plan *p, struct mt_advice *a)
{
    mt_advice_plan_init(p, f, choice);
    if (mt_advice_apply_rule(p, a->rule)) {
        finish(p, strings, a);
    } else {
        a->bound = MT_BOUND_NONE;
        a->price_ns = MT_UNKNOWN;
        a->because = text_of(&p->because, a->rule->lacks);
        a->how = mt_strdup(a->rule->how);
    }
    mt_advice_plan_end(p);
}

/* ---- several together ---- */

static bool is_among(const struct mt_advices *a, const char *id)
{
    for (size_t i = 0; id && i < a->all.n; i++)
        if (a->all.v[i].applies && strcmp(a->all.v[i].rule->id, id) == 0)
            return true;
    return false;
}

/* Puts a text that a rule left behind that of the rules before it. */
static void put_behind(struct mt_buf *left, struct mt_buf *before)
{
    if (before->n && left->n)
        mt_buf_addf(before, "; %s", left->s);
    if (!before->n)
        return;
    mt_buf_free(left);
    *left = *before;
}

/* Applies one of them behind the others: what was found, and how it is written, is said of each. */
static void join(struct mt_advice_plan *p, const struct mt_advice_rule *rule, struct mt_buf *id)
{
    enum mt_advice_bound bound = p->bound;
    struct mt_buf because = p->because, how = p->how, price = p->price;
    p->because = p->how = p->price = (struct mt_buf){0};
    mt_advice_apply_rule(p, rule);
    p->bound = p->bound > bound ? p->bound : bound;
    if (!p->how.n)
        mt_buf_adds(&p->how, rule->how);
    if (!p->price.n && rule->price)
        mt_buf_adds(&p->price, rule->price);
    mt_buf_clear(&p->subject); /* each has its own */
    put_behind(&p->because, &because);
    put_behind(&p->how, &how);
    put_behind(&p->price, &price);
    mt_buf_addf(id, "%s%s", id->n ? "+" : "", rule->id);
}

static void try_together(const struct mt_advice_facts *f, const struct mt_advice_choice *choice,
                         struct mt_strtab *strings, struct mt_advices *a)
{
    struct mt_advice_plan p = {0};
    struct mt_buf id = {0};
    int n = 0;
    mt_advice_plan_init(&p, f, choice);
    for (size_t i = 0; i < 2 * mt_advice_rule_n; i++) {
        const struct mt_advice_rule *rule = &mt_advice_rules[i % mt_advice_rule_n];
        if (rule->resizes != (i < mt_advice_rule_n) || !is_among(a, rule->id) ||
            is_among(a, rule->not ))
            continue;
        join(&p, rule, &id);
        n++;
    }
    if (n > 1) {
        a->joined = (struct mt_advice_rule){.id = mt_strdup(id.s), .what = "these together"};
        struct mt_advice *all = mt_vec_push(&a->all);
        *all = (struct mt_advice){.rule = &a->joined};
        finish(&p, strings, all);
    }
    mt_buf_free(&id);
    mt_advice_plan_free(&p);
}

static int saving_cmp(const void *a, const void *b)
{
    const struct mt_advice *x = a, *y = b;
    if ((x->growth.per_step_b > 0) != (y->growth.per_step_b > 0))
        return x->growth.per_step_b > 0 ? -1 : 1;
    if (x->applies && y->applies && x->rule->retypes != y->rule->retypes)
        return x->rule->retypes ? 1 : -1;
    int64_t s = x->applies ? x->saving_b : INT64_MIN, t = y->applies ? y->saving_b : INT64_MIN;
    return s != t ? (s < t ? 1 : -1) : (x->rule > y->rule) - (x->rule < y->rule);
}

/* ---- which ---- */

/* What people change, too, and no recording gives a figure for. */
static const struct {
    const char *id, *why, *hint;
} no_figures[] = {
    {"autocast",
     "torch.autocast keeps weights in float32, and which results it makes smaller depends on the "
     "device",
     "--only bfloat16 says what model.bfloat16() would save; of a run with torch.autocast "
     "`memtool diff base changed` tells."},
    {"pin_memory",
     "pinned memory is in no trace and no snapshot, as its allocator tells profilers nothing",
     "Print torch.cuda.host_memory_stats() in each step; `memtool import --pattern` reads it."},
};

static bool has_no_figure(const char *word, struct mt_err *err)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(no_figures); i++) {
        if (strcmp(word, no_figures[i].id) != 0)
            continue;
        MT_FAIL(err, MT_EUSAGE, "%s", no_figures[i].why);
        mt_err_cannot_tell(err);
        mt_err_hint(err, "%s", no_figures[i].hint);
        return true;
    }
    return false;
}

static enum mt_status no_rule(const char *id, size_t n, struct mt_err *err)
{
    char *word = mt_strndup(id, n);
    MT_VEC(const char *) names = {0};
    if (has_no_figure(word, err)) {
        free(word);
        return MT_EUSAGE;
    }
    for (size_t i = 0; i < mt_advice_rule_n; i++)
        *mt_vec_push(&names) = mt_advice_rules[i].id;
    for (size_t i = 0; i < MT_ARRAY_LEN(no_figures); i++)
        *mt_vec_push(&names) = no_figures[i].id;
    MT_FAIL(err, MT_EUSAGE, "there is no advice '%s'", word);
    struct mt_buf near = {0};
    mt_did_you_mean(word, names.v, names.n, &near);
    mt_err_hint(err, "%s`memtool help advise` lists what there is.", near.s ? near.s : "");
    mt_buf_free(&near);
    mt_vec_free(&names);
    free(word);
    return MT_EUSAGE;
}

static const struct mt_advice_rule *find_rule(const char *id, size_t n)
{
    for (size_t i = 0; i < mt_advice_rule_n; i++)
        if (strlen(mt_advice_rules[i].id) == n && strncmp(mt_advice_rules[i].id, id, n) == 0)
            return &mt_advice_rules[i];
    return NULL;
}

static enum mt_status named_twice(const struct mt_advice_rule *rule, struct mt_err *err)
{
    MT_FAIL(err, MT_EUSAGE, "--only names '%s' twice", rule->id);
    mt_err_hint(err, "Name each advice once.");
    return MT_EUSAGE;
}

static enum mt_status choose(const char *only, struct mt_advices *out, struct mt_err *err)
{
    for (size_t i = 0; !only && i < mt_advice_rule_n; i++)
        *mt_vec_push(&out->all) = (struct mt_advice){.rule = &mt_advice_rules[i]};
    for (const char *p = only, *next; p; p = next) {
        size_t n = strcspn(p, ",");
        const struct mt_advice_rule *rule = find_rule(p, n);
        next = p[n] ? p + n + 1 : NULL;
        if (!rule)
            return no_rule(p, n, err);
        for (size_t i = 0; i < out->all.n; i++)
            if (out->all.v[i].rule == rule)
                return named_twice(rule, err);
        *mt_vec_push(&out->all) = (struct mt_advice){.rule = rule};
    }
    return MT_OK;
}

enum mt_status mt_advices_find(const struct mt_advice_facts *f,
                               const struct mt_advice_choice *choice, const char *only,
                               struct mt_strtab *strings, struct mt_advices *out,
                               struct mt_err *err)
{
    struct mt_advice_plan p = {0};
    *out = (struct mt_advices){0};
    MT_TRY(choose(only, out, err));
    for (size_t i = 0; i < out->all.n; i++)
        try_rule(f, choice, strings, &p, &out->all.v[i]);
    mt_advice_plan_free(&p);
    if (only)
        try_together(f, choice, strings, out);
    if (out->all.n)
        qsort(out->all.v, out->all.n, sizeof *out->all.v, saving_cmp);
    return MT_OK;
}

void mt_advices_free(struct mt_advices *a)
{
    free((char *)a->joined.id);
    for (size_t i = 0; i < a->all.n; i++) {
        free(a->all.v[i].subject);
        free(a->all.v[i].because);
        free(a->all.v[i].price);
        free(a->all.v[i].how);
        mt_vec_free(&a->all.v[i].sites);
    }
    mt_vec_free(&a->all);
}
