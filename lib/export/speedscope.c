/* speedscope's file format, version 0.0.1: sampled profiles, a measure each; of deep call paths
 * evented ones, which it shows alike: a sample has its whole path, an event one function. */
#include "lib/export/formats.h"

#include "lib/base/json_out.h"
#include "lib/base/wrap.h"
#include <stdlib.h>

static const struct {
    enum mt_measure measure;
    const char *name, *unit;
} profiles[] = {{MT_MEASURE_ALIVE_B, "alive", "bytes"},
                {MT_MEASURE_ALLOC_B, "allocated", "bytes"},
                {MT_MEASURE_ALIVE_N, "blocks alive", "none"},
                {MT_MEASURE_ALLOC_N, "blocks allocated", "none"}};

static void put_key_text(struct mt_json_out *j, const char *key, const char *text)
{
    mt_json_put_key(j, key);
    mt_json_put_text(j, text);
}

static void put_frames(const struct mt_stacks *s, struct mt_json_out *j, FILE *out)
{
    mt_json_put_key(j, "shared");
    mt_json_put_begin(j, "{}", false);
    mt_json_put_key(j, "frames");
    mt_json_put_begin(j, "[]", true);
    for (size_t i = 0; i < s->frames.n; i++) {
        const struct mt_stack_frame *f = &s->frames.v[i];
        mt_json_put_begin(j, "{}", false);
        put_key_text(j, "name", mt_stacks_text(s, f->name));
        if (*mt_stacks_text(s, f->file))
            put_key_text(j, "file", mt_stacks_text(s, f->file));
        if (f->line > 0) {
            mt_json_put_key(j, "line");
            mt_json_put_int(j, f->line);
        }
        mt_json_put_end(j);
        mt_export_flush(j->to, out, MT_EXPORT_PIECE);
    }
    mt_json_put_end(j);
    mt_json_put_end(j);
}

/* Root first. */
static void put_stack(const struct mt_stacks *s, uint32_t node, struct mt_json_out *j)
{
    MT_VEC(uint32_t) path = {0};
    for (; node != MT_NONE; node = s->nodes.v[node].parent)
        *mt_vec_push(&path) = s->nodes.v[node].frame;
    mt_json_put_begin(j, "[]", false);
    for (size_t i = path.n; i-- > 0;)
        mt_json_put_int(j, path.v[i]);
    mt_json_put_end(j);
    mt_vec_free(&path);
}

static void put_samples(const struct mt_stacks *s, enum mt_measure m, struct mt_json_out *j,
                        FILE *out)
{
    mt_json_put_key(j, "samples");
    mt_json_put_begin(j, "[]", true);
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        if (s->nodes.v[i].self[m] <= 0)
            continue;
        put_stack(s, i, j);
        mt_export_flush(j->to, out, MT_EXPORT_PIECE);
    }
    mt_json_put_end(j);
    mt_json_put_key(j, "weights");
    mt_json_put_begin(j, "[]", false);
    for (size_t i = 0; i < s->nodes.n; i++) {
        if (s->nodes.v[i].self[m] <= 0)
            continue;
        mt_json_put_int(j, s->nodes.v[i].self[m]);
        mt_export_flush(j->to, out, MT_EXPORT_PIECE);
    }
    mt_json_put_end(j);
}

static void put_event(struct mt_json_out *j, const char *type, uint32_t frame, int64_t at)
{
    mt_json_put_begin(j, "{}", false);
    put_key_text(j, "type", type);
    mt_json_put_key(j, "frame");
    mt_json_put_int(j, frame);
    mt_json_put_key(j, "at");
    mt_json_put_int(j, at);
    mt_json_put_end(j);
}

/* Which nodes have something of the measure, in themselves or below. Allocated. */
static bool *find_some(const struct mt_stacks *s, enum mt_measure m)
{
    bool *some = mt_alloc(s->nodes.n + 1);
    for (size_t i = s->nodes.n; i-- > 0;) {
        some[i] |= s->nodes.v[i].self[m] > 0;
        if (some[i] && s->nodes.v[i].parent != MT_NONE)
            some[s->nodes.v[i].parent] = true;
    }
    return some;
}

/* Each function opens once, and closes when all below it is told. */
static void put_events(const struct mt_stacks *s, enum mt_measure m, struct mt_json_out *j,
                       FILE *out)
{
    bool *some = find_some(s, m);
    MT_VEC(uint32_t) open = {0};
    int64_t at = 0;
    mt_json_put_key(j, "events");
    mt_json_put_begin(j, "[]", true);
    for (uint32_t i = 0; i <= s->nodes.n; i++) {
        bool end = i == s->nodes.n;
        uint32_t parent = end ? MT_NONE : s->nodes.v[i].parent;
        if (!end && !some[i])
            continue;
        while (open.n && open.v[open.n - 1] != parent)
            put_event(j, "C", s->nodes.v[open.v[--open.n]].frame, at);
        if (end)
            break;
        put_event(j, "O", s->nodes.v[i].frame, at);
        *mt_vec_push(&open) = i;
        mt_wrap_inc(&at, s->nodes.v[i].self[m] > 0 ? s->nodes.v[i].self[m] : 0);
        mt_export_flush(j->to, out, MT_EXPORT_PIECE);
    }
    mt_json_put_end(j);
    mt_vec_free(&open);
    free(some);
}

static void put_profile(const struct mt_stacks *s, size_t which, struct mt_json_out *j, FILE *out)
{
    enum { DEEP = 1 << 20 }; /* functions written, from which on events are fewer */
    enum mt_measure m = profiles[which].measure;
    int64_t written_n, written_b;
    mt_stacks_written(s, m, &written_n, &written_b);
    bool deep = written_n > DEEP && written_n / 16 > (int64_t)s->nodes.n;
    bool alive = m == MT_MEASURE_ALIVE_B || m == MT_MEASURE_ALIVE_N;
    char *name = mt_asprintf("%s%s%s, %s", profiles[which].name, alive ? " " : "",
                             alive ? s->moment : "", s->device);
    mt_json_put_begin(j, "{}", false);
    put_key_text(j, "type", deep ? "evented" : "sampled");
    put_key_text(j, "name", name);
    put_key_text(j, "unit", profiles[which].unit);
    mt_json_put_key(j, "startValue");
    mt_json_put_int(j, 0);
    mt_json_put_key(j, "endValue");
    mt_json_put_int(j, mt_stacks_sum(s, m));
    if (deep)
        put_events(s, m, j, out);
    else
        put_samples(s, m, j, out);
    mt_json_put_end(j);
    free(name);
}

void mt_export_speedscope(const struct mt_stacks *s, enum mt_measure measure, FILE *out)
{
    struct mt_buf text = {0};
    struct mt_json_out j = {.to = &text};
    (void)measure;
    mt_json_put_begin(&j, "{}", true);
    put_key_text(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    put_key_text(&j, "exporter", "memtool");
    put_key_text(&j, "name", s->run);
    mt_json_put_key(&j, "activeProfileIndex");
    mt_json_put_int(&j, 0);
    put_frames(s, &j, out);
    mt_json_put_key(&j, "profiles");
    mt_json_put_begin(&j, "[]", true);
    for (size_t i = 0; i < MT_ARRAY_LEN(profiles); i++)
        if (s->knows[profiles[i].measure])
            put_profile(s, i, &j, out);
    mt_json_put_end(&j);
    mt_json_put_end(&j);
    mt_buf_addc(&text, '\n');
    mt_export_flush(&text, out, 0);
    mt_buf_free(&text);
}
