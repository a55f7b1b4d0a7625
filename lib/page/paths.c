#include "lib/page/page.h"

#include "lib/base/human.h"
#include "lib/flame/flame.h"

static const struct {
    enum mt_measure measure;
    const char *name;
} measures[] = {{MT_MEASURE_ALIVE_B, "peak"},
                {MT_MEASURE_ALLOC_B, "allocated"},
                {MT_MEASURE_END_B, "end"},
                {MT_MEASURE_ALLOC_N, "count"},
                {MT_MEASURE_BASE, "base"}};

static void add_names(const struct mt_stacks *s, struct mt_buf *out)
{
    mt_buf_adds(out, "\"names\":[");
    for (size_t i = 0; i < s->frames.n; i++) {
        struct mt_buf words = {0};
        mt_escape_short(&words, mt_stacks_text(s, s->frames.v[i].text));
        mt_buf_adds(out, i ? ",\"" : "\"");
        mt_escape_json(out, words.n ? words.s : "");
        mt_buf_addc(out, '"');
        mt_buf_free(&words);
    }
    mt_buf_adds(out, "]");
}

static void add_measure(const struct mt_stacks *s, enum mt_measure measure, struct mt_buf *out)
{
    size_t last = 0;
    bool first = true;
    for (size_t i = 0; i < s->nodes.n; i++) {
        int64_t v = s->nodes.v[i].self[measure];
        if (!v)
            continue;
        mt_buf_addf(out, "%s%zu,%lld", first ? "" : ",", i - last, (long long)v);
        last = i;
        first = false;
    }
}

void mt_page_paths_json(const struct mt_stacks *s, struct mt_buf *out)
{
    int *level = mt_alloc((s->nodes.n + 1) * sizeof *level);
    mt_buf_addc(out, '{');
    add_names(s, out);
    mt_buf_adds(out, ",\"level\":[");
    for (size_t i = 0; i < s->nodes.n; i++) {
        uint32_t parent = s->nodes.v[i].parent;
        level[i] = parent == MT_NONE ? 0 : level[parent] + 1;
        mt_buf_addf(out, "%s%d", i ? "," : "", level[i]);
    }
    mt_buf_adds(out, "],\"name\":[");
    for (size_t i = 0; i < s->nodes.n; i++)
        mt_buf_addf(out, "%s%u", i ? "," : "", s->nodes.v[i].frame);
    mt_buf_adds(out, "],\"kind\":\"");
    for (size_t i = 0; i < s->nodes.n; i++)
        mt_buf_addf(out, "%d", (int)mt_flame_kind(s, &s->nodes.v[i]));
    mt_buf_adds(out, "\",\"measures\":{");
    const char *comma = "";
    for (size_t m = 0; m < MT_ARRAY_LEN(measures); m++) {
        if (!s->knows[measures[m].measure])
            continue;
        mt_buf_addf(out, "%s\"%s\":[", comma, measures[m].name);
        add_measure(s, measures[m].measure, out);
        mt_buf_adds(out, "]");
        comma = ",";
    }
    mt_buf_adds(out, "}}");
    free(level);
}
