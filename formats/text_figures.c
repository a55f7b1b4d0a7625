#include "formats/text_figures.h"

#include "lib/input/fields.h"
#include <string.h>

enum { LOOK = 1 << 16 /* figures after which it is known how many owners there are */ };

void mt_text_figures_open(struct mt_text_figures *f, struct mt_recording *rec)
{
    *f = (struct mt_text_figures){0};
    mt_process_open(&f->log, rec);
}

void mt_text_figures_free(struct mt_text_figures *f)
{
    mt_process_free(&f->log);
    mt_vec_free(&f->first);
    mt_vec_free(&f->process);
    mt_vec_free(&f->own);
}

/* The process of an owner, who has been there before its first figure. A PID is a process's number
 * everywhere; ranks are the same in every run, and so are their names. */
static enum mt_status process_of(struct mt_text_figures *f, const struct mt_text_owners *owners,
                                 uint32_t owner, size_t *process, struct mt_err *err)
{
    static const char pid[] = "pid";
    while (f->process.n <= owner)
        *mt_vec_push(&f->process) = SIZE_MAX;
    *process = f->process.v[owner];
    if (*process != SIZE_MAX)
        return MT_OK;
    const char *name = mt_strtab_get(&owners->names, owner);
    const size_t n = strlen(name);
    struct mt_fields number =
        mt_fields_of(name + sizeof pid - 1, n < sizeof pid ? 0 : n - sizeof pid + 1);
    int64_t value;
    const bool numbered = strncmp(name, pid, sizeof pid - 1) == 0 &&
                          mt_field_decimal(&number, &value) && mt_field_end(&number) &&
                          value < 1 << 30;
    if (owner == MT_TEXT_NOBODY)
        MT_TRY(mt_process_of(&f->log, -1, process, err));
    else if (numbered)
        MT_TRY(mt_process_of(&f->log, value, process, err));
    else
        MT_TRY(mt_process_named(&f->log, "process", name, n, process, err));
    f->log.all.v[*process].older = true;
    f->process.v[owner] = *process;
    return MT_OK;
}

/* Whose figure it is, as far as that tells processes apart: "[GPU 0] allocated 5 GB" is a device of
 * any; MT_TEXT_NOBODY: it does not. */
static uint32_t teller(const struct mt_text_owners *owners, const struct mt_text_figure *x)
{
    const char *name = mt_strtab_get(&owners->names, x->owner);
    const bool device = strncmp(name, "gpu", 3) == 0 || strncmp(name, "cuda", 4) == 0;
    const bool rss = x->metric == MT_METRIC_RSS || x->metric == MT_METRIC_PEAK_RSS;
    return (device && !rss) || mt_text_owners_is_kernel(owners, x->owner) ? MT_TEXT_NOBODY
                                                                          : x->owner;
}

static void add_own(struct mt_text_figures *f, const struct mt_text_figure *x)
{
    if (!x->owner || (x->metric != MT_METRIC_RSS && x->metric != MT_METRIC_PEAK_RSS))
        return;
    while (f->own.n <= x->owner)
        *mt_vec_push(&f->own) = false;
    f->own.v[x->owner] = true;
}

/* A worker that is told of tells that itself, if it has lines of its own; else it may be another
 * who does. */
static uint32_t owner_of(struct mt_text_figures *f, const struct mt_text_owners *owners,
                         const struct mt_text_figure *x)
{
    if (mt_text_owners_is_kernel(owners, x->owner))
        return MT_TEXT_NOBODY;
    if (x->owner || !x->told)
        return x->owner;
    const uint32_t owner = mt_text_owners_told(owners, x->told);
    if (owner < f->own.n && f->own.v[owner])
        return owner;
    f->told_others |= f->told_first && f->told_first != x->told;
    f->told_first = f->told_first ? f->told_first : x->told;
    return MT_TEXT_NOBODY;
}

static enum mt_status put(struct mt_text_figures *f, const struct mt_text_owners *owners,
                          const struct mt_text_figure *x, struct mt_err *err)
{
    size_t process;
    const uint32_t owner = teller(owners, x), told = owner_of(f, owners, x);
    f->mixed |= !f->apart && !f->told && owner && f->one && owner != f->one;
    f->one = f->one ? f->one : owner;
    MT_TRY(process_of(f, owners, f->apart ? told : MT_TEXT_NOBODY, &process, err));
    if (x->metric == MT_METRIC_RSS)
        return mt_process_level(&f->log, process, x->t, x->bytes, err);
    if (x->metric == MT_METRIC_PEAK_RSS)
        MT_TRY(mt_process_peak(&f->log, process, x->bytes, err));
    return mt_process_sample(&f->log, process, x->metric, x->t, x->bytes, err);
}

/* Whether all owners are such as one process may tell of, and none has a second figure: then it is
 * not known that they are several processes. */
static bool are_told_of(const struct mt_text_figures *f, const struct mt_text_owners *owners)
{
    MT_VEC(bool) seen = {0};
    bool told = true;
    for (size_t i = 0; i < f->first.n && told; i++) {
        const uint32_t owner = teller(owners, &f->first.v[i]);
        if (f->first.v[i].metric != MT_METRIC_RSS || !owner)
            continue;
        while (seen.n <= owner)
            *mt_vec_push(&seen) = false;
        told = mt_text_owners_told_of(owners, owner) && !seen.v[owner];
        seen.v[owner] = true;
    }
    told &= seen.n > 0;
    mt_vec_free(&seen);
    return told;
}

static enum mt_status decide(struct mt_text_figures *f, const struct mt_text_owners *owners,
                             struct mt_err *err)
{
    for (size_t i = 0; i < f->first.n; i++)
        add_own(f, &f->first.v[i]);
    for (size_t i = 0; i < f->first.n && !f->apart; i++) {
        const uint32_t owner = teller(owners, &f->first.v[i]);
        f->apart = owner && f->one && owner != f->one;
        f->one = owner ? owner : f->one;
    }
    f->decided = true;
    f->told = f->apart && !owners->several && are_told_of(f, owners);
    f->apart = f->apart && !f->told;
    for (size_t i = 0; i < f->first.n; i++)
        MT_TRY(put(f, owners, &f->first.v[i], err));
    mt_vec_free(&f->first);
    return MT_OK;
}

enum mt_status mt_text_figures_add(struct mt_text_figures *f, const struct mt_text_owners *owners,
                                   const struct mt_text_figure *figure, struct mt_err *err)
{
    if (f->decided) {
        add_own(f, figure);
        return put(f, owners, figure, err);
    }
    *mt_vec_push(&f->first) = *figure;
    return f->first.n < LOOK ? MT_OK : decide(f, owners, err);
}

enum mt_status mt_text_figures_end(struct mt_text_figures *f, const struct mt_text_owners *owners,
                                   struct mt_err *err)
{
    return f->decided ? MT_OK : decide(f, owners, err);
}
