/* The line of `memtool peak` that says what is alive in the words of who trains models. */
#include "cmd/peak.h"

#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include <string.h>

enum part { PARAMETERS, GRADIENTS, OPTIMIZER_STATE, ACTIVATIONS, OTHER, OLDER, PART_N };

static const struct {
    const char *words, *total;
} parts[PART_N] = {{"parameters", "parameters_b"},
                   {"gradients", "gradients_b"},
                   {"optimizer state", "optimizer_state_b"},
                   {"activations", "activations_b"},
                   {"other", "other_b"},
                   {"older than the recording", "older_b"}};

static enum part part_of(uint8_t category)
{
    switch (category) {
    case MT_CATEGORY_PARAMETER:
        return PARAMETERS;
    case MT_CATEGORY_GRADIENT:
        return GRADIENTS;
    case MT_CATEGORY_OPTIMIZER_STATE:
        return OPTIMIZER_STATE;
    case MT_CATEGORY_ACTIVATION:
    case MT_CATEGORY_RECOMPUTED:
        return ACTIVATIONS;
    default:
        return OTHER;
    }
}

/* "parameters 4.1, activations 46.7, other 3.2 MiB": a unit stands where the next one differs. */
static void write_parts(struct mt_buf *out, const int64_t *bytes)
{
    char text[PART_N][MT_HUMAN_MAX];
    int shown[PART_N], n = 0;
    for (int i = 0; i < PART_N; i++)
        if (bytes[i]) {
            mt_human_bytes(bytes[i], text[i]);
            shown[n++] = i;
        }
    for (int k = 0; k < n; k++) {
        const char *now = text[shown[k]], *unit = strchr(now, ' ');
        const char *next = k + 1 < n ? strchr(text[shown[k + 1]], ' ') : NULL;
        bool same = unit && next && strcmp(unit, next) == 0;
        mt_buf_addf(out, "%s%s %.*s", k ? ", " : "", parts[shown[k]].words,
                    (int)(same ? unit - now : (int)strlen(now)), now);
    }
    mt_buf_addc(out, '\n');
}

void mt_peak_categories(struct mt_peak *p, const struct mt_live_set *live, int64_t level_b)
{
    int64_t bytes[PART_N] = {0};
    struct mt_buf line = {0};
    if (!mt_device_categorizes(&p->view->device) || p->view->device.only)
        return;
    for (size_t i = 0; i < live->blocks.n; i++)
        if (!mt_allocation_is_unknown(&live->blocks.v[i]))
            mt_wrap_inc(&bytes[part_of(live->blocks.v[i].origin.category)],
                        live->blocks.v[i].bytes);
    bytes[OLDER] = level_b;
    for (int i = 0; i < OLDER; i++)
        mt_wrap_dec(&bytes[OLDER], bytes[i]);
    for (int i = 0; i < PART_N; i++)
        mt_report_total(p->report, parts[i].total, mt_cell_int(bytes[i]));
    bool trains = bytes[GRADIENTS] || bytes[OPTIMIZER_STATE];
    if (!trains && !(bytes[PARAMETERS] && bytes[ACTIVATIONS]))
        return; /* no model is known to be there */
    write_parts(&line, bytes);
    p->report->figure = line.s;
}
