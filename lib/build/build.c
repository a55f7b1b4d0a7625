/* The order in which a recording is built, and the part that can run beside its storing. */
#include "lib/build/build.h"

#include "lib/base/thread.h"
#include "lib/build/assigned.h"
#include "lib/build/by_frames.h"
#include "lib/build/gradients.h"
#include "lib/build/told_base.h"
#include "lib/build/untold.h"

static void include(struct mt_recording *r, int64_t t_ns)
{
    r->start_ns = t_ns < r->start_ns ? t_ns : r->start_ns;
    r->end_ns = t_ns > r->end_ns ? t_ns : r->end_ns;
}

/* First and last moment of what is recorded; the call tree has set those of the ops. */
static void include_moments(struct mt_recording *r)
{
    for (size_t i = 0; i < r->records.n; i++)
        include(r, r->records.v[i].t_ns);
    for (size_t i = 0; i < r->samples.n; i++)
        include(r, r->samples.v[i].t_ns);
    for (size_t i = 0; i < r->other_events.n; i++)
        include(r, r->other_events.v[i].t_ns);
    if (r->start_ns > r->end_ns)
        r->start_ns = r->end_ns = 0;
}

enum mt_status mt_build_ops(struct mt_recording *r, const char *step_marker, struct mt_err *err)
{
    MT_TRY(mt_build_bounds(r, err));
    if (r->summed) {
        mt_build_lull(r);
        return mt_rec_check_memory(r, err);
    }
    mt_base_read_meta(r);
    mt_build_calltree(r);
    include_moments(r);
    mt_build_lull(r);
    MT_TRY(mt_build_steps(r, step_marker, err));
    MT_TRY(mt_rec_check_memory(r, err));
    mt_build_forward(r);
    return MT_OK;
}

/* Heap logs and profiles say where functions are, or what memory is for. */
static void know_frames(struct mt_recording *r)
{
    unsigned any = 0;
    for (size_t i = 0; i < r->frames.n; i++) {
        const struct mt_frame *f = &r->frames.v[i];
        bool placed = f->kind != MT_FRAME_OP && (f->object != MT_NONE || f->file != MT_NONE);
        any |= placed ? MT_KNOWS_PLACES : 0u;
        any |= f->kind == MT_FRAME_CATEGORY ? MT_KNOWS_CATEGORIES : 0u;
        any |= f->kind == MT_FRAME_THREAD ? MT_KNOWS_THREADS : 0u;
        any |= f->kind == MT_FRAME_LABEL ? MT_KNOWS_LABELS : 0u;
        any |= f->kind == MT_FRAME_SIZE ? MT_KNOWS_SIZES : 0u;
    }
    for (size_t i = 0; i < r->devices.n; i++)
        r->devices.v[i].knows |= any;
}

void mt_build_memory(struct mt_recording *r)
{
    if (r->summed) {
        mt_build_totals(r);
        know_frames(r);
        return;
    }
    struct mt_gradients gradients = {0};
    struct mt_processes processes = {0};
    struct mt_map assigned = {0};
    mt_build_attribution(r);
    if (!r->without_ops) {
        mt_assigned_find(r, &assigned);
        mt_processes_find(r, &processes);
        mt_gradients_find(r, &processes, &gradients);
        mt_build_categories(r, &processes, &gradients, &assigned);
    } else if (r->kind == MT_RUN_SNAPSHOT) {
        mt_build_by_frames(r);
    }
    mt_build_rollup(r);
    mt_build_knows(r);
    if (!r->without_ops)
        mt_build_older(r, &processes, &gradients, &assigned);
    if (!r->without_ops)
        mt_build_untold(r, &processes, &gradients);
    mt_gradients_free(&gradients);
    mt_processes_free(&processes);
    mt_map_free(&assigned);
    mt_build_history(r);
}

enum mt_status mt_build(struct mt_recording *r, const char *step_marker, struct mt_err *err)
{
    MT_TRY(mt_build_ops(r, step_marker, err));
    mt_build_memory(r);
    return MT_OK;
}

static void *build_memory(void *recording)
{
    mt_build_memory(recording);
    return NULL;
}

void mt_build_beside(struct mt_beside *b, struct mt_recording *r)
{
    b->running = mt_thread_start(&b->thread, build_memory, r) == 0;
    if (!b->running)
        mt_build_memory(r);
}

void mt_build_wait(void *beside)
{
    struct mt_beside *b = beside;
    if (b->running)
        pthread_join(b->thread, NULL);
    b->running = false;
}
