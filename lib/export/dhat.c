/* DHAT's output, version 2 (valgrind's dhat/dh_main.c and dh_view.js): paths with what they
 * allocated, held at one moment, and held at the end. */
#include "lib/export/formats.h"

#include "lib/base/json_out.h"
#include <string.h>

enum { SHORT_NS = 500 * 1000 };

static void put_text(struct mt_json_out *j, const char *key, const char *text)
{
    mt_json_put_key(j, key);
    mt_json_put_text(j, text);
}

static void put_int(struct mt_json_out *j, const char *key, int64_t v)
{
    mt_json_put_key(j, key);
    mt_json_put_int(j, v);
}

/* Mtu is the unit of a million of its times; tuth, below which blocks count as short-lived. */
static void put_head(const struct mt_stacks *s, struct mt_json_out *j)
{
    bool ns = strcmp(s->time_unit, "ns") == 0;
    char *million = ns ? mt_strdup("ms") : mt_asprintf("M%s", s->time_unit);
    char *command = mt_asprintf("%s, %s; t-gmax: %s", s->run, s->device, s->moment);
    put_int(j, "dhatFileVersion", 2);
    put_text(j, "mode", "heap");
    put_text(j, "verb", "Allocated");
    mt_json_put_key(j, "bklt");
    mt_json_put_bool(j, true);
    mt_json_put_key(j, "bkacc");
    mt_json_put_bool(j, false);
    put_text(j, "tu", s->time_unit);
    put_text(j, "Mtu", million);
    put_int(j, "tuth", ns ? SHORT_NS : 0);
    put_text(j, "cmd", command);
    put_int(j, "pid", 0);
    put_int(j, "te", s->dur_ns);
    put_int(j, "tg", s->moment_ns == MT_NO_MOMENT ? 0 : s->moment_ns);
    free(command);
    free(million);
}

/* What a path held at most is not known by itself: what it held at the moment is no more. */
static void put_path(const struct mt_stacks *s, uint32_t node, struct mt_json_out *j)
{
    const int64_t *v = s->nodes.v[node].self;
    bool end_more = v[MT_MEASURE_END_B] > v[MT_MEASURE_ALIVE_B];
    mt_json_put_begin(j, "{}", false);
    put_int(j, "tb", v[MT_MEASURE_ALLOC_B]);
    put_int(j, "tbk", v[MT_MEASURE_ALLOC_N]);
    put_int(j, "tl", v[MT_MEASURE_LIFE]);
    put_int(j, "mb", v[end_more ? MT_MEASURE_END_B : MT_MEASURE_ALIVE_B]);
    put_int(j, "mbk", v[end_more ? MT_MEASURE_END_N : MT_MEASURE_ALIVE_N]);
    put_int(j, "gb", v[MT_MEASURE_ALIVE_B]);
    put_int(j, "gbk", v[MT_MEASURE_ALIVE_N]);
    put_int(j, "eb", v[MT_MEASURE_END_B]);
    put_int(j, "ebk", v[MT_MEASURE_END_N]);
    mt_json_put_key(j, "fs");
    mt_json_put_begin(j, "[]", false);
    for (; node != MT_NONE; node = s->nodes.v[node].parent)
        mt_json_put_int(j, (int64_t)s->nodes.v[node].frame + 1);
    mt_json_put_end(j);
    mt_json_put_end(j);
}

static void put_paths(const struct mt_stacks *s, struct mt_json_out *j, FILE *out)
{
    mt_json_put_key(j, "pps");
    mt_json_put_begin(j, "[]", true);
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        static const int64_t nothing[MT_MEASURE_N];
        if (memcmp(s->nodes.v[i].self, nothing, sizeof nothing) == 0)
            continue;
        put_path(s, i, j);
        mt_export_flush(j->to, out, MT_EXPORT_PIECE);
    }
    mt_json_put_end(j);
}

/* Frames look as valgrind's do, so that viewers take them apart: "0x0: main (train.py:12)". */
static void put_frames(const struct mt_stacks *s, struct mt_json_out *j, FILE *out)
{
    mt_json_put_key(j, "ftbl");
    mt_json_put_begin(j, "[]", true);
    mt_json_put_text(j, "[root]");
    for (size_t i = 0; i < s->frames.n; i++) {
        char *text = mt_asprintf("0x0: %s", mt_stacks_text(s, s->frames.v[i].text));
        mt_json_put_text(j, text);
        free(text);
        mt_export_flush(j->to, out, MT_EXPORT_PIECE);
    }
    mt_json_put_end(j);
}

void mt_export_dhat(const struct mt_stacks *s, enum mt_measure measure, FILE *out)
{
    struct mt_buf text = {0};
    struct mt_json_out j = {.to = &text};
    (void)measure;
    mt_json_put_begin(&j, "{}", true);
    put_head(s, &j);
    put_paths(s, &j, out);
    put_frames(s, &j, out);
    mt_json_put_end(&j);
    mt_buf_addc(&text, '\n');
    mt_export_flush(&text, out, 0);
    mt_buf_free(&text);
}
