#include "cmd/category_line.h"

#include "cmd/common.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/run/knows.h"
#include <string.h>

#define MT_BY_FRAMES " (by frames)"

enum { EARLIER_PART = 100 }; /* less than such a part of all is not worth words */

static const struct {
    const char *words, *total;
} parts_of[MT_PART_N] = {{"parameters", "parameters_b"},
                         {"gradients", "gradients_b"},
                         {"optimizer state", "optimizer_state_b"},
                         {"activations", "activations_b"},
                         {"other", "other_b"},
                         {"older than the recording", "older_b"}};

static enum mt_category_part part_of(uint8_t category)
{
    switch (category) {
    case MT_CATEGORY_PARAMETER:
        return MT_PART_PARAMETERS;
    case MT_CATEGORY_GRADIENT:
        return MT_PART_GRADIENTS;
    case MT_CATEGORY_OPTIMIZER_STATE:
        return MT_PART_OPTIMIZER_STATE;
    case MT_CATEGORY_ACTIVATION:
    case MT_CATEGORY_RECOMPUTED:
    case MT_CATEGORY_KEPT:
        return MT_PART_ACTIVATIONS;
    default:
        return MT_PART_OTHER;
    }
}

/* Whether the line is worth having: of a device of some categories it says what was asked for. */
static bool is_told(const struct mt_run_device *device)
{
    return mt_device_categorizes(device) && !device->only;
}

static struct mt_category_parts parts_init(const struct mt_run_device *device)
{
    return (struct mt_category_parts){.known = is_told(device),
                                      .by_frames = mt_device_categorizes_by_frames(device)};
}

/* The rest up to a level is older than the recording. */
static void add_older(struct mt_category_parts *p, int64_t level_b)
{
    p->bytes[MT_PART_OLDER] = level_b;
    for (int i = 0; i < MT_PART_OLDER; i++)
        mt_wrap_dec(&p->bytes[MT_PART_OLDER], p->bytes[i]);
}

struct mt_category_parts mt_category_parts_of(const struct mt_run_device *device,
                                              const struct mt_live_set *live, int64_t level_b)
{
    struct mt_category_parts p = parts_init(device);
    for (size_t i = 0; p.known && i < live->blocks.n; i++)
        if (!mt_allocation_is_unknown(&live->blocks.v[i]) &&
            live->blocks.v[i].origin.category != MT_CATEGORY_BEFORE)
            mt_wrap_inc(&p.bytes[part_of(live->blocks.v[i].origin.category)],
                        live->blocks.v[i].bytes);
    if (p.known)
        add_older(&p, level_b);
    return p;
}

enum mt_status mt_category_parts_at_peak(struct mt_db *db, const struct mt_run_device *device,
                                         struct mt_category_parts *out, struct mt_err *err)
{
    int64_t bytes[MT_CATEGORY_N];
    *out = parts_init(device);
    if (!out->known)
        return MT_OK;
    MT_TRY(mt_categories_at_peak(db, device, bytes, err));
    for (int c = 0; c < MT_CATEGORY_N; c++)
        if (c != MT_CATEGORY_BEFORE)
            mt_wrap_inc(&out->bytes[part_of((uint8_t)c)], bytes[c]);
    add_older(out, device->peak_b);
    return MT_OK;
}

void mt_category_totals(struct mt_report *r, const char *prefix,
                        const struct mt_category_parts *parts)
{
    for (int i = 0; i < MT_PART_N && parts->known; i++)
        mt_report_total(r, mt_report_textf(r, "%s%s", prefix, parts_of[i].total),
                        mt_cell_int(parts->bytes[i]));
    if (parts->known)
        mt_report_total(r, mt_report_textf(r, "%scategories_by", prefix),
                        mt_cell_text(parts->by_frames ? "frames" : "operators"));
}

/* Whether a model is known to be there. By frames it is where a module's forward is. */
static bool has_model(const struct mt_category_parts *p)
{
    const int64_t *b = p->bytes;
    return p->known && (b[MT_PART_GRADIENTS] || b[MT_PART_OPTIMIZER_STATE] ||
                        ((b[MT_PART_PARAMETERS] || p->by_frames) && b[MT_PART_ACTIVATIONS]));
}

/* A figure of the line, and its unit. */
struct figure {
    char text[2][MT_HUMAN_MAX];
    int part, n; /* n 2: it changed */
};

static const char *unit_of(const char *text)
{
    const char *blank = strchr(text, ' ');
    return blank ? blank : "";
}

static bool same_unit(const char *a, const char *b)
{
    return *unit_of(a) && strcmp(unit_of(a), unit_of(b)) == 0;
}

static void write_line(struct mt_buf *out, const struct figure *v, int n)
{
    for (int k = 0; k < n; k++) {
        const char *from = v[k].text[0], *to = v[k].text[1];
        bool bare = v[k].n == 2 && same_unit(from, to);
        mt_buf_addf(out, "%s%s %.*s", k ? ", " : "", parts_of[v[k].part].words,
                    (int)(bare ? (size_t)(unit_of(from) - from) : strlen(from)), from);
        if (v[k].n == 2)
            mt_buf_addf(out, " -> %s", to);
    }
}

void mt_category_line(struct mt_buf *out, const struct mt_category_parts *parts)
{
    struct figure v[MT_PART_N] = {0};
    int n = 0;
    for (int i = 0; i < MT_PART_N && has_model(parts); i++) {
        if (!parts->bytes[i])
            continue;
        v[n] = (struct figure){.part = i, .n = 1};
        mt_human_bytes(parts->bytes[i], v[n++].text[0]);
    }
    write_line(out, v, n);
    if (n && parts->by_frames)
        mt_buf_adds(out, MT_BY_FRAMES);
}

void mt_category_add_earlier(struct mt_buf *line, const struct mt_live_set *live, int64_t step)
{
    char bytes[MT_HUMAN_MAX];
    int64_t earlier_b = 0;
    for (size_t i = 0; line->n && step != INT64_MIN && i < live->blocks.n; i++) {
        const struct mt_origin *from = &live->blocks.v[i].origin;
        bool of_batch = from->category == MT_CATEGORY_ACTIVATION ||
                        from->category == MT_CATEGORY_INPUT || from->category == MT_CATEGORY_KEPT ||
                        from->category == MT_CATEGORY_UNKNOWN;
        if (of_batch && from->step != INT64_MIN && from->step < step)
            mt_wrap_inc(&earlier_b, live->blocks.v[i].bytes);
    }
    if (earlier_b > 0 && earlier_b >= live->sum_b / EARLIER_PART)
        mt_buf_addf(line, "; %s of it made in earlier steps: see memtool leaks",
                    mt_human_bytes(earlier_b, bytes));
}

void mt_category_line_of_two(struct mt_buf *out, const struct mt_category_parts parts[2])
{
    struct figure v[MT_PART_N] = {0};
    int n = 0;
    bool told = parts[0].known && parts[1].known && (has_model(&parts[0]) || has_model(&parts[1]));
    for (int i = 0; i < MT_PART_N && told; i++) {
        if (!parts[0].bytes[i] && !parts[1].bytes[i])
            continue;
        v[n] = (struct figure){.part = i};
        for (int s = 0; s < 2; s++)
            if (parts[s].bytes[i])
                mt_human_bytes(parts[s].bytes[i], v[n].text[s]);
            else
                v[n].text[s][0] = '0';
        v[n].n = strcmp(v[n].text[0], v[n].text[1]) == 0 ? 1 : 2;
        n++;
    }
    write_line(out, v, n);
    if (n && (parts[0].by_frames || parts[1].by_frames))
        mt_buf_adds(out, MT_BY_FRAMES);
}

char *mt_category_figure(struct mt_buf *line)
{
    struct mt_buf out = {0};
    if (line->n) {
        mt_wrap_words(&out, line->s, mt_show_width(), 0);
        mt_buf_addc(&out, '\n');
    }
    mt_buf_free(line);
    return out.s;
}
