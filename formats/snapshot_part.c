#include "formats/snapshot_part.h"

#include "lib/base/sort.h"

/* Times do not step back; where there are none, events are numbered (snapshot_marks.c). */
static int64_t next_time(const struct mt_snap_objects *o, const struct mt_snap_part *part, size_t i,
                         int64_t last)
{
    int64_t time_us = o->events.v[mt_pickle_number(part->src->events[i])].time_us;
    int64_t t = !o->timed_n ? (int64_t)i : time_us == MT_GONE ? last : time_us * 1000;
    return t > last ? t : last;
}

static void find_events(const struct mt_snap_objects *o, const struct mt_snap_window *w,
                        struct mt_snap_part *part)
{
    int64_t t_ns = INT64_MIN;
    for (size_t i = 0; i < part->src->event_n; i++) {
        t_ns = next_time(o, part, i, t_ns);
        part->first += t_ns < w->from_ns;
        part->end += t_ns < w->to_ns || w->to_ns == INT64_MAX;
    }
}

/* Those of a device, in order of time, paired. */
static void find_marks(const struct mt_snap_objects *o, struct mt_snap_part *part)
{
    struct mt_snap_marks *marks = &part->marks;
    for (size_t i = 0; i < o->annotations.n && o->timed_n; i++) {
        const struct mt_snap_annotation *a = &o->annotations.v[i];
        if (a->device == part->src->number && part->src->type != MT_DEVICE_HOST)
            *mt_vec_push(&marks->all) = (struct mt_snap_mark){
                .t_ns = a->time_us * 1000, .name = a->name, .start = a->start};
    }
    mt_sort_by_time(marks->all.v, marks->all.n, sizeof *marks->all.v, NULL);
    mt_snap_marks_pair(marks);
}

/* Regions that are open; the one that began last counts. */
struct open_regions {
    MT_VEC(uint32_t) all; /* their marks */
    size_t next;
};

static void open_until(struct open_regions *open, const struct mt_snap_marks *marks, int64_t t_ns)
{
    for (; open->next < marks->all.n && marks->all.v[open->next].due_ns <= t_ns; open->next++) {
        const struct mt_snap_mark *m = &marks->all.v[open->next];
        size_t kept = 0;
        for (size_t i = 0; i < open->all.n; i++)
            if (m->start || open->all.v[i] != m->mate)
                open->all.v[kept++] = open->all.v[i];
        open->all.n = kept;
        if (m->start)
            *mt_vec_push(&open->all) = (uint32_t)open->next;
    }
}

/* The marks of the regions around what happens on a device: its own, or those of the only one that
 * has any (find_around in snapshot_replay.c). */
static const struct mt_snap_marks *marks_around(const struct mt_snap_part *parts, size_t n,
                                                size_t i)
{
    const struct mt_snap_marks *only = NULL;
    for (size_t k = 0; k < n; k++) {
        if (parts[k].marks.all.n && only)
            return &parts[i].marks;
        only = parts[k].marks.all.n ? &parts[k].marks : only;
    }
    return only ? only : &parts[i].marks;
}

/* Blocks that have no label get the region they were allocated in. */
static void label_blocks(const struct mt_snap_objects *o, const struct mt_snap_marks *marks,
                         struct mt_snap_part *part)
{
    struct open_regions open = {0};
    int64_t t_ns = INT64_MIN;
    size_t event = 0;
    for (size_t i = 0; i < part->lives.all.n && !o->has_category; i++) {
        struct mt_snap_life *life = &part->lives.all.v[i];
        if (!life->from)
            continue;
        for (; event < life->from; event++)
            t_ns = next_time(o, part, event, t_ns);
        open_until(&open, marks, t_ns);
        if (life->label == MT_NONE && open.all.n)
            life->label = marks->all.v[open.all.v[open.all.n - 1]].name;
    }
    mt_vec_free(&open.all);
}

void mt_snap_parts_find(struct mt_snap_objects *o, const struct mt_snap_window *window,
                        struct mt_snap_part *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        find_events(o, window, &parts[i]);
        find_marks(o, &parts[i]);
        mt_snap_lives_find(o, parts[i].src, &parts[i].lives);
    }
    for (size_t i = 0; i < n; i++)
        label_blocks(o, marks_around(parts, n, i), &parts[i]);
}

void mt_snap_part_free(struct mt_snap_part *part)
{
    mt_vec_free(&part->lives.all);
    mt_vec_free(&part->marks.all);
}
