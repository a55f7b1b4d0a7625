/* Growth in words. */
#include "lib/analysis/growth.h"

#include "lib/base/human.h"
#include "lib/run/knows.h"
#include <math.h>

int64_t mt_growth_bytes(double bytes)
{
    return llround(fmax(fmin(bytes, 9e18), -9e18));
}

const char *mt_growth_unit(const struct mt_growth *g)
{
    static const char *const units[] = {
        [MT_PER_STEP] = "a step", [MT_PER_MINUTE] = "a minute", [MT_PER_EVENT] = "a sample"};
    return units[g->unit];
}

/* Nothing is judged. */
static void add_profiled(const struct mt_growth_process *p, struct mt_buf *out)
{
    char until[MT_HUMAN_MAX];
    if (p->profiled.life.to_ns >= p->there.to_ns)
        mt_buf_adds(out, "cannot be judged: PyTorch's profiler was running to the end");
    else
        mt_buf_addf(
            out,
            "cannot be judged: PyTorch's profiler was running until %s, and what follows is "
            "too short",
            mt_human_ns(p->profiled.life.to_ns, until));
}

/* It varies, or may have stopped. */
static void add_doubtful(const struct mt_growth_process *p, const struct mt_growth *g,
                         struct mt_buf *out)
{
    char least[MT_HUMAN_MAX], most[MT_HUMAN_MAX];
    const char *unit = mt_growth_unit(g);
    mt_human_bytes(mt_growth_bytes(g->least), least);
    mt_human_bytes(mt_growth_bytes(g->most), most);
    if (p->loads)
        mt_buf_addf(out,
                    "grew %s to %s %s while the program loaded libraries or files, as it does when "
                    "it begins: too brief to tell whether that goes on",
                    least, most, unit);
    else if (g->hides)
        mt_buf_addf(out,
                    "cannot be judged: its lowest changes by %s to %s%s %s, others grow by more",
                    least, g->most > 0 ? "+" : "", most, unit);
    else if (g->least > 0 && p->gaps & MT_GAPS_OF_PROCESSES)
        mt_buf_addf(out, "grew %s to %s %s, if it is that of one process", least, most, unit);
    else if (g->least > 0)
        mt_buf_addf(out, "grew %s to %s %s, but %s, and may have stopped", least, most, unit,
                    g->slows ? "less and less" : "for a short time");
    else
        mt_buf_addf(out, "varies too much to tell whether it grows: %s to %s%s %s", least,
                    g->most > 0 ? "+" : "", most, unit);
}

void mt_growth_words(const struct mt_growth_process *p, const struct mt_growth *g,
                     struct mt_buf *out)
{
    const char *unit = mt_growth_unit(g);
    char rate[MT_HUMAN_MAX], least[MT_HUMAN_MAX], most[MT_HUMAN_MAX];
    mt_human_bytes(mt_growth_bytes(g->verdict == MT_GROWTH_FALLS ? -g->rate : g->rate), rate);
    mt_human_bytes(mt_growth_bytes(g->least), least);
    mt_human_bytes(mt_growth_bytes(g->verdict == MT_GROWTH_FLAT ? fmax(g->most, 0) : g->most),
                   most);
    if (p->part == MT_PART_NONE)
        add_profiled(p, out);
    else if (p->part == MT_PART_UNKNOWN)
        mt_buf_adds(out, "was not recorded");
    else if (g->verdict == MT_GROWTH_GROWS)
        mt_buf_addf(out, "grows %s %s (95 %%: %s to %s)", rate, unit, least, most);
    else if (g->verdict == MT_GROWTH_FLAT)
        mt_buf_addf(out, "is flat: +%s %s at most", most, unit);
    else if (g->verdict == MT_GROWTH_FALLS)
        mt_buf_addf(out, "falls %s %s", rate, unit);
    else if (g->verdict == MT_GROWTH_UNKNOWN)
        add_doubtful(p, g, out);
    else
        mt_buf_adds(out, "was recorded too briefly to tell whether it grows");
}
