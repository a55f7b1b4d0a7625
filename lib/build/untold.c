#include "lib/build/untold.h"

#include "lib/build/optimizers.h"
#include "lib/model/categories.h"

/* Whether gradients are accumulated, in a process that steps optimizers. */
static bool learns(const struct mt_gradients *g, uint32_t process)
{
    const struct mt_backwards of = mt_backwards_of(g, process);
    bool accumulates = false, steps = false;
    for (size_t i = 0; i < of.n; i++) {
        accumulates |= of.v[i].due_n > 0 && !of.v[i].partial;
        steps |= of.v[i].step_n > 0;
    }
    return accumulates && steps;
}

/* Whether an optimizer of the process keeps something for each parameter, whatever its options. */
static bool has_state(const struct mt_recording *r, const struct mt_processes *p, uint32_t process)
{
    struct mt_optimizers o;
    mt_optimizers_find(r, p, process, &o);
    const bool found = o.frames.n && (o.least > 0 || o.least_scalars > 0);
    mt_optimizers_free(&o);
    return found;
}

/* Whether no block of the shares [first, end) has the category; what is declared to be older may.
 */
static bool has_none(const struct mt_recording *r, const struct mt_processes *p, size_t first,
                     size_t end, enum mt_category category)
{
    for (size_t i = first; i < end; i++) {
        const struct mt_share *s = &p->shares.v[i];
        if (r->devices.v[s->device].no_addresses || r->devices.v[s->device].kept_b > 0)
            return false;
        for (size_t k = 0; k < s->n; k++) {
            const struct mt_record *rec = &r->records.v[p->records[s->first + k]];
            if (rec->bytes > 0 && mt_category_of_rule[rec->rule] == category)
                return false;
        }
    }
    return true;
}

void mt_build_untold(struct mt_recording *r, const struct mt_processes *p,
                     const struct mt_gradients *g)
{
    if (r->kind != MT_RUN_TRACE || r->notes[MT_NOTE_OLDER].count)
        return;
    for (size_t i = 0, end; i < p->shares.n; i = end) {
        const uint32_t process = p->shares.v[i].process;
        for (end = i; end < p->shares.n && p->shares.v[end].process == process;)
            end++;
        if (!learns(g, process))
            continue;
        if (has_none(r, p, i, end, MT_CATEGORY_PARAMETER))
            mt_rec_note(r, MT_NOTE_NO_PARAMETERS, -1, 0);
        if (has_none(r, p, i, end, MT_CATEGORY_GRADIENT))
            mt_rec_note(r, MT_NOTE_NO_GRADIENTS, -1, 0);
        if (has_none(r, p, i, end, MT_CATEGORY_OPTIMIZER_STATE) && has_state(r, p, process))
            mt_rec_note(r, MT_NOTE_NO_STATE, -1, 0);
    }
}
