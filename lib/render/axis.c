#include "lib/render/axis.h"

#include <stdio.h>
#include <string.h>

/* Beyond, ticks could not be counted without overflow. */
#define FAR      (INT64_MAX / 4)
#define STEP_MAX (INT64_MAX / 8)

static int64_t near(int64_t v)
{
    return v < -FAR ? -FAR : v > FAR ? FAR : v;
}

static uint64_t steps_within(int64_t from, int64_t to, int64_t step)
{
    return (uint64_t)(to - from) / (uint64_t)step;
}

static struct mt_axis with_step(int64_t from, int64_t to, int64_t step)
{
    int64_t rest = from % step;
    int64_t first = rest > 0 ? from - rest + step : from - rest;
    return (struct mt_axis){.from = from, .to = to, .first = first, .step = step};
}

struct mt_axis mt_axis_bytes(int64_t from, int64_t to, int most)
{
    int64_t step = 1;
    from = near(from);
    to = near(to);
    while (step < STEP_MAX && steps_within(from, to, step) >= (uint64_t)most)
        step *= 2;
    return with_step(from, to, step);
}

struct mt_axis mt_axis_ns(int64_t from, int64_t to, int most)
{
    int64_t ten = 1, step = 1;
    from = near(from);
    to = near(to);
    for (int k = 0; step < STEP_MAX / 10 && steps_within(from, to, step) >= (uint64_t)most; k++) {
        static const int times[] = {1, 2, 5};
        if (k % 3 == 2)
            ten *= 10;
        step = ten * times[(k + 1) % 3];
    }
    return with_step(from, to, step);
}

const char *mt_axis_label_bytes(int64_t bytes, char out[MT_HUMAN_MAX])
{
    if (bytes == 0)
        snprintf(out, MT_HUMAN_MAX, "0");
    else
        mt_human_bytes_round(bytes, out);
    return out;
}

const char *mt_axis_label_ns(const struct mt_axis *a, int64_t ns, char out[MT_HUMAN_MAX])
{
    static const struct {
        const char *name;
        int64_t size;
    } units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
    int64_t far = a->to > -a->from ? a->to : -a->from;
    int u = 0, decimals = 0;
    while (u < 3 && far < units[u].size)
        u++;
    int64_t part = units[u].size;
    while (part > 1 && a->step % part) {
        part /= 10;
        decimals++;
    }
    if (ns == 0)
        snprintf(out, MT_HUMAN_MAX, "0");
    else if (a->unit && strcmp(a->unit, "ns") != 0)
        mt_human_count(ns, out);
    else if (a->from == a->to)
        mt_human_ns(ns, out);
    else
        snprintf(out, MT_HUMAN_MAX, "%.*f %s", decimals, (double)ns / (double)units[u].size,
                 units[u].name);
    return out;
}

double mt_axis_place(const struct mt_axis *a, int64_t v, double size)
{
    double span = (double)a->to - (double)a->from;
    double at = span > 0 ? ((double)v - (double)a->from) / span : 0;
    return (at < 0 ? 0 : at > 1 ? 1 : at) * size;
}
