/* speedscope's file format, version 0.0.1: sampled profiles, a measure each. */
#include "lib/export/formats.h"

#include "lib/base/json_out.h"

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

static void put_profile(const struct mt_stacks *s, size_t which, struct mt_json_out *j, FILE *out)
{
    enum mt_measure m = profiles[which].measure;
    bool alive = m == MT_MEASURE_ALIVE_B || m == MT_MEASURE_ALIVE_N;
    char *name = mt_asprintf("%s%s%s, %s", profiles[which].name, alive ? " " : "",
                             alive ? s->moment : "", s->device);
    mt_json_put_begin(j, "{}", false);
    put_key_text(j, "type", "sampled");
    put_key_text(j, "name", name);
    put_key_text(j, "unit", profiles[which].unit);
    mt_json_put_key(j, "startValue");
    mt_json_put_int(j, 0);
    mt_json_put_key(j, "endValue");
    mt_json_put_int(j, mt_stacks_sum(s, m));
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
