/* The sites of several repeats, as those of one baseline. */
#include "lib/analysis/baseline_parts.h"
#include "lib/run/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *mt_baseline_text(struct mt_baseline *b, const char *s)
{
    return mt_strtab_get(&b->texts, mt_strtab_add(&b->texts, s, strlen(s)));
}

int64_t *mt_baseline_each_at(struct mt_baseline_site *s, size_t repeat)
{
    const int64_t key = (int64_t)repeat;
    size_t at = s->each.n; /* mostly they come in their order */
    if (at && s->each.v[at - 1].repeat >= key)
        at = mt_count_below(&s->each.v->repeat, s->each.n, sizeof *s->each.v, key);
    if (at < s->each.n && s->each.v[at].repeat == key)
        return s->each.v[at].v;
    if (s->each.n == s->each.cap) /* most sites are in few of many repeats, and there are many */
        mt_vec_room(&s->each, s->each.n ? 2 * s->each.n : 1);
    (void)mt_vec_push(&s->each);
    struct mt_baseline_each *row = &s->each.v[at];
    memmove(row + 1, row, (s->each.n - 1 - at) * sizeof *row);
    *row = (struct mt_baseline_each){.repeat = key};
    return row->v;
}

void mt_baseline_each_settle(struct mt_baseline_site *s, size_t repeat_n)
{
    static const int64_t none[MT_FIG_BASELINE_N];
    size_t kept = 0, same = 0;
    for (size_t i = 0; i < s->each.n; i++) {
        same += memcmp(s->each.v[i].v, s->v, sizeof s->v) == 0;
        if (memcmp(s->each.v[i].v, none, sizeof none) != 0)
            s->each.v[kept++] = s->each.v[i];
    }
    if (memcmp(s->v, none, sizeof none) == 0)
        same += repeat_n - s->each.n;
    s->each.n = kept;
    s->differs = same < repeat_n;
    if (!s->differs || !kept)
        mt_vec_free(&s->each);
    else
        mt_vec_room(&s->each, kept);
}

void mt_baseline_site_add(struct mt_buf *out, const char *line, const char *op, const char *scope)
{
    if (line)
        mt_buf_addf(out, "%s (", line);
    mt_site_add(out, op, scope);
    if (line)
        mt_buf_addc(out, ')');
}

/* The site of the same name; a new one where there is none. names: of those there are. */
static struct mt_baseline_site *find_site(struct mt_strtab *names,
                                          const struct mt_baseline_site *site,
                                          struct mt_baseline *out, struct mt_baseline_device *to)
{
    const char *line = site->line ? site->line : "";
    char *key =
        mt_asprintf("%d %d %zu %zu %s%s%s", site->explicit_row, site->scope != NULL, strlen(line),
                    strlen(site->op), line, site->op, site->scope ? site->scope : "");
    uint32_t id = mt_strtab_add(names, key, strlen(key));
    free(key);
    if (id < to->sites.n)
        return &to->sites.v[id];
    struct mt_baseline_site *new = mt_vec_push(&to->sites);
    *new =
        (struct mt_baseline_site){.op = mt_baseline_text(out, site->op),
                                  .scope = site->scope ? mt_baseline_text(out, site->scope) : NULL,
                                  .line = site->line ? mt_baseline_text(out, site->line) : NULL,
                                  .explicit_row = site->explicit_row};
    return new;
}

void mt_baseline_fold_sites(const struct mt_baseline *repeats, size_t n, size_t which,
                            const char *name, struct mt_baseline *out,
                            struct mt_baseline_device *to)
{
    struct mt_strtab names;
    mt_strtab_init(&names);
    for (size_t i = 0; i < n; i++) {
        const struct mt_baseline_device *d = mt_baseline_same_device(&repeats[i], name);
        for (size_t k = 0; d && k < d->sites.n; k++) {
            const struct mt_baseline_site *from = &d->sites.v[k];
            struct mt_baseline_site *site = find_site(&names, from, out, to);
            int64_t *v = mt_baseline_each_at(site, i);
            site->unseen |= from->unseen;
            for (int f = 0; f < MT_FIG_BASELINE_N; f++)
                v[f] = mt_baseline_add(v[f], from->v[f]);
        }
    }
    for (size_t k = 0; k < to->sites.n; k++) {
        struct mt_baseline_site *site = &to->sites.v[k];
        site->differs = true;
        for (int f = 0; f < MT_FIG_BASELINE_N; f++)
            site->v[f] = mt_baseline_figure_in(site, (enum mt_figure)f, which);
        mt_baseline_each_settle(site, n);
    }
    mt_strtab_free(&names);
}
