/* memtool leaks: what is alive at the end of a run of sums, and is no leak by a suppression. */
#include "cmd/common.h"
#include "cmd/leaks.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"

void mt_leaks_suppressed_free(struct mt_leaks_suppressed *s)
{
    mt_vec_free(&s->by);
}

static void add(struct mt_live_total *to, const struct mt_allocation *life)
{
    bool known = to->blocks_n >= 0 && life->blocks_n >= 0;
    mt_wrap_inc(&to->bytes, life->bytes);
    to->blocks_n = known ? mt_wrap_add(to->blocks_n, life->blocks_n) : -1;
}

/* Leaves only patterns that matched something alive. */
static void drop_unused(struct mt_leaks_suppressed *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->by.n; i++)
        if (s->by.v[i].bytes)
            s->by.v[kept++] = s->by.v[i];
    s->by.n = kept;
}

void mt_leaks_suppress(struct mt_live_set *live, const struct mt_suppressions *patterns,
                       const uint32_t *of, struct mt_leaks_suppressed *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < patterns->v.n; i++)
        *mt_vec_push(&out->by) = (struct mt_leaks_pattern){patterns->v.v[i], 0};
    for (size_t i = 0; i < live->blocks.n; i++) {
        const struct mt_allocation *life = &live->blocks.v[i];
        uint32_t node = life->origin.node, by = node == MT_NONE ? MT_NONE : of[node];
        if (by == MT_NONE) {
            live->blocks.v[kept++] = *life;
            continue;
        }
        add(&out->all, life);
        mt_wrap_inc(&out->by.v[by].bytes, life->bytes);
        live->sum_b = mt_wrap_sub(live->sum_b, life->bytes);
    }
    live->blocks.n = kept;
    drop_unused(out);
}

enum { SHOWN = 5 }; /* patterns */

void mt_leaks_describe_suppressed(const struct mt_leaks_suppressed *s, struct mt_report *r)
{
    char bytes[MT_HUMAN_MAX], blocks[MT_HUMAN_LONG];
    struct mt_buf text = {0};
    if (!s->by.n)
        return;
    for (size_t i = 0; i < s->by.n && i < SHOWN; i++)
        mt_buf_addf(&text, "%s%.60s %s", i ? ", " : "", s->by.v[i].pattern,
                    mt_human_bytes(s->by.v[i].bytes, bytes));
    mt_buf_adds(&text, s->by.n > SHOWN ? ", ..." : "");
    mt_report_footer(r, "suppressed, no leaks: %s%s%s (%s)", mt_human_bytes(s->all.bytes, bytes),
                     s->all.blocks_n >= 0 ? " in " : "",
                     s->all.blocks_n >= 0 ? mt_human_plural(s->all.blocks_n, "block", blocks) : "",
                     text.s);
    mt_buf_free(&text);
}

void mt_leaks_describe_held(const struct mt_site_moments *m, const struct mt_suppressions *patterns,
                            struct mt_report *r)
{
    char bytes[MT_HUMAN_MAX];
    struct mt_buf text = {0};
    if (!patterns || !m->suppressed.most_b)
        return;
    for (size_t i = 0; i < m->patterns.n && i < SHOWN; i++)
        mt_buf_addf(&text, "%s%.60s", i ? ", " : "", patterns->v.v[m->patterns.v[i]]);
    mt_buf_adds(&text, m->patterns.n > SHOWN ? ", ..." : "");
    mt_report_footer(r, "suppressed, no leaks: up to %s at a moment (%s)",
                     mt_human_bytes(m->suppressed.most_b, bytes), text.s);
    mt_buf_free(&text);
}
