#include "lib/analysis/loaded.h"

#include <string.h>

void mt_loaded_free(struct mt_loaded *l)
{
    mt_repeats_free(&l->figures);
    if (l->contents.slot)
        mt_strtab_free(&l->contents);
    mt_vec_free(&l->runs);
}

/* By what was recorded: a run may be in two databases, under two names. */
static bool same_recording(const struct mt_loaded_run *a, const struct mt_loaded_run *b)
{
    return a->content[0] && strcmp(a->content, b->content) == 0;
}

bool mt_loaded_overlap(const struct mt_loaded *a, const struct mt_loaded *b)
{
    for (size_t i = 0; i < a->runs.n; i++)
        for (size_t k = 0; k < b->runs.n; k++)
            if (same_recording(&a->runs.v[i], &b->runs.v[k]))
                return true;
    return false;
}
