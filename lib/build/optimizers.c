#include "lib/build/optimizers.h"
#include "lib/base/sort.h"

#include "lib/base/search.h"
#include "lib/build/build.h"
#include "lib/build/phases.h"
#include <stdlib.h>
#include <string.h>

/* As of PyTorch 2.13, without options that are seldom asked for: amsgrad of a fused Adam and
 * momentum of RMSprop cannot be seen. Adagrad makes its state before its first step. */
static const struct kind {
    const char *name;
    int least, most, scalars; /* of each parameter */
} kinds[] = {{"ASGD", 1, 1, 3},      {"Adadelta", 2, 2, 1}, {"Adagrad", 0, 1, 1},
             {"Adam", 2, 2, 1},      {"AdamW", 2, 2, 1},    {"Adamax", 2, 2, 1},
             {"Muon", 1, 1, 0},      {"NAdam", 2, 2, 2},    {"RAdam", 2, 2, 1},
             {"RMSprop", 1, 3, 1},   {"Rprop", 2, 2, 1},    {"SGD", 0, 1, 0},
             {"SparseAdam", 2, 2, 0}};

/* Operators that tell an option, called by the step itself. */
enum clue { CLUE_ADDS = 1, CLUE_MOMENTUM = 2, CLUE_AMSGRAD = 4 };
static const struct {
    const char *op;
    enum clue clue;
} clues[] = {{"aten::add_", CLUE_ADDS},       {"aten::_foreach_add_", CLUE_ADDS},
             {"aten::mul_", CLUE_MOMENTUM},   {"aten::_foreach_mul_", CLUE_MOMENTUM},
             {"aten::maximum", CLUE_AMSGRAD}, {"aten::_foreach_maximum_", CLUE_AMSGRAD}};

/* The class in "Optimizer.step#Adam.step"; its length. */
static const char *class_of(const struct mt_recording *r, uint32_t frame, size_t *n)
{
    const char *name = mt_rec_frame_name(r, frame) + strlen(MT_STEPS_OF_OPTIMIZERS);
    const char *dot = strrchr(name, '.');
    *n = dot ? (size_t)(dot - name) : strlen(name);
    return name;
}

struct finder {
    const struct mt_recording *r;
    struct mt_optimizers *out;
    struct mt_map clues; /* frame of a step -> what its ops tell */
};

static bool read_op(void *closure, uint32_t thread, const struct mt_op *op)
{
    (void)thread;
    struct finder *f = closure;
    const struct mt_node *n = &f->r->nodes.v[op->node];
    if (mt_frame_is_optimizer(f->r, n->frame)) {
        *mt_vec_push(&f->out->steps) = op->start_ns;
        uint32_t *found = mt_map_at(&f->clues, n->frame);
        *found = *found == MT_MAP_NONE ? 0 : *found;
    }
    if (n->scope == MT_NONE || n->phase != MT_PHASE_OPTIMIZER || n->top != n->frame)
        return true;
    for (size_t c = 0; c < MT_ARRAY_LEN(clues); c++)
        if (strcmp(mt_rec_frame_name(f->r, n->frame), clues[c].op) == 0) {
            uint32_t *found = mt_map_at(&f->clues, n->scope);
            *found = (*found == MT_MAP_NONE ? 0 : *found) | clues[c].clue;
        }
    return true;
}

static struct kind kind_of(const struct mt_recording *r, uint32_t frame, unsigned found)
{
    size_t n, i = 0;
    const char *name = class_of(r, frame, &n);
    while (i < MT_ARRAY_LEN(kinds) &&
           (strlen(kinds[i].name) != n || strncmp(kinds[i].name, name, n) != 0))
        i++;
    if (i == MT_ARRAY_LEN(kinds))
        return (struct kind){.most = -1};
    struct kind kind = kinds[i];
    bool adam = strcmp(kind.name, "Adam") == 0 || strcmp(kind.name, "AdamW") == 0;
    if (strcmp(kind.name, "SGD") == 0 && found & CLUE_ADDS) /* a fused step tells nothing */
        kind.least = kind.most = found & CLUE_MOMENTUM ? 1 : 0;
    else if (adam && found & CLUE_AMSGRAD)
        kind.least = kind.most = 3;
    return kind;
}

static void add_kind(struct mt_optimizers *o, const struct kind *k, bool first)
{
    o->least = first || k->least < o->least ? k->least : o->least;
    o->least_scalars = first || k->scalars < o->least_scalars ? k->scalars : o->least_scalars;
    if (k->most < 0 || (o->most < 0 && !first))
        o->most = -1;
    else
        o->most = first || k->most > o->most ? k->most : o->most;
    o->most_scalars = k->scalars > o->most_scalars ? k->scalars : o->most_scalars;
}

static int frame_cmp(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void find_frames(const struct finder *f)
{
    struct mt_optimizers *o = f->out;
    for (uint64_t i = 0; i < f->clues.slot_n; i++)
        if (f->clues.slot[i].value != MT_MAP_NONE &&
            mt_frame_is_optimizer(f->r, (uint32_t)f->clues.slot[i].key))
            *mt_vec_push(&o->frames) = (uint32_t)f->clues.slot[i].key;
    if (o->frames.n)
        qsort(o->frames.v, o->frames.n, sizeof *o->frames.v, frame_cmp);
}

void mt_optimizers_find(const struct mt_recording *r, const struct mt_processes *p,
                        uint32_t process, struct mt_optimizers *out)
{
    struct finder f = {.r = r, .out = out};
    *out = (struct mt_optimizers){0};
    mt_processes_each_op(r, p, process, read_op, &f);
    find_frames(&f);
    for (size_t i = 0; i < out->frames.n; i++) {
        uint32_t frame = out->frames.v[i];
        const struct kind kind = kind_of(r, frame, mt_map_get(&f.clues, frame));
        add_kind(out, &kind, i == 0);
    }
    mt_map_free(&f.clues);
    if (!out->frames.n)
        out->most = -1; /* it may step outside the recording */
    mt_sort_by_time(out->steps.v, out->steps.n, sizeof *out->steps.v, NULL);
}

void mt_optimizers_free(struct mt_optimizers *o)
{
    mt_vec_free(&o->frames);
    mt_vec_free(&o->steps);
}

/* Whether a block is there to the end, or goes after the last step, outside of it: with its
 * optimizer. */
static bool is_kept(const struct mt_recording *r, const struct mt_optimizers *o,
                    const struct mt_record *rec)
{
    if (rec->mate == MT_NONE)
        return true;
    const struct mt_record *freed = &r->records.v[rec->mate];
    uint32_t node = mt_rec_node(r, freed);
    return o->steps.n && freed->t_ns > o->steps.v[o->steps.n - 1] &&
           (node == MT_NONE || r->nodes.v[node].phase != MT_PHASE_OPTIMIZER);
}

int64_t mt_optimizers_made(const struct mt_recording *r, const struct mt_optimizers *o,
                           const uint32_t *records, size_t n, int64_t *once)
{
    int64_t *made = mt_alloc((o->steps.n + 1) * sizeof *made), sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct mt_record *rec = &r->records.v[records[i]];
        uint32_t node = rec->bytes > 0 && is_kept(r, o, rec) ? mt_rec_node(r, rec) : MT_NONE;
        if (node == MT_NONE || r->nodes.v[node].phase != MT_PHASE_OPTIMIZER)
            continue;
        made[mt_count_up_to(o->steps.v, o->steps.n, sizeof *o->steps.v, rec->t_ns)] += rec->bytes;
        sum += rec->bytes;
    }
    *once = sum;
    if (o->steps.n > 1)
        *once = 0;
    for (size_t i = 1; i <= o->steps.n && o->steps.n > 1; i++)
        *once += made[i] > made[o->steps.n] ? made[i] - made[o->steps.n] : 0;
    free(made);
    return sum;
}

void mt_optimizers_names(const struct mt_recording *r, const uint32_t *frames, size_t n,
                         struct mt_buf *out)
{
    enum { SHOWN = 2, LONGEST = 20 };
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        size_t length;
        const char *name = class_of(r, frames[i], &length);
        mt_buf_adds(out, i ? ", " : "");
        mt_buf_add(out, name, length < LONGEST ? length : LONGEST);
    }
    if (n > SHOWN)
        mt_buf_adds(out, ", ...");
}
