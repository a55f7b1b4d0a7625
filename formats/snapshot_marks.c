/* When events are, and when the regions around them begin and end. */
#include "formats/snapshot_parts.h"

#include "lib/base/sort.h"
#include <string.h>

void mt_snap_mark_regions(struct mt_snap_replayer *r, int64_t t_ns)
{
    for (size_t i = 0; i < r->device_n; i++) {
        struct mt_snap_device *d = &r->devices[i];
        while (d->annotations.at < d->annotations.all.n &&
               d->annotations.all.v[d->annotations.at].due_ns <= t_ns)
            mt_snap_region_mark(&d->regions, &d->annotations, &r->o->paths, r->rec, r->strings);
    }
}

static void find_annotations(struct mt_snap_replayer *r, struct mt_snap_device *d)
{
    for (size_t i = 0; r->timed && i < r->o->annotations.n; i++) {
        const struct mt_snap_annotation *a = &r->o->annotations.v[i];
        if (d->src->type != MT_DEVICE_HOST && d->src->number == a->device)
            *mt_vec_push(&d->annotations.all) = (struct mt_snap_mark){
                .t_ns = a->time_us * 1000, .name = a->name, .start = a->start};
    }
    mt_sort_by_time(d->annotations.all.v, d->annotations.all.n, sizeof *d->annotations.all.v, NULL);
    mt_snap_marks_pair(&d->annotations);
}

const struct mt_snap_frame *mt_snap_user_defined(const struct mt_snap_replayer *r,
                                                 const struct mt_snap_event *e)
{
    if (e->action != MT_SNAP_USER_DEFINED || e->path == MT_NONE)
        return NULL;
    const struct mt_snap_frame *f = &r->o->paths.frames.v[r->o->paths.path.v[e->path].frame];
    return f->name == MT_NONE || f->file == MT_NONE ? NULL : f;
}

static int64_t time_of(const struct mt_snap_replayer *r, const struct mt_snap_device *d, size_t i,
                       int64_t last_ns)
{
    const struct mt_snap_event *e = mt_snap_event_at(r, d, i);
    if (!r->timed)
        return (int64_t)i;
    return e->time_us == MT_GONE || e->time_us * 1000 < last_ns ? last_ns : e->time_us * 1000;
}

int64_t mt_snap_next_time(const struct mt_snap_replayer *r, const struct mt_snap_device *d)
{
    return time_of(r, d, d->at, d->last_ns);
}

static void find_user_defined(struct mt_snap_replayer *r, struct mt_snap_device *d)
{
    int64_t t_ns = d->last_ns;
    for (size_t i = 0; i < d->src->event_n; i++) {
        const struct mt_snap_frame *f = mt_snap_user_defined(r, mt_snap_event_at(r, d, i));
        t_ns = time_of(r, d, i, t_ns);
        if (f)
            *mt_vec_push(&d->user_defined.all) = (struct mt_snap_mark){
                .t_ns = t_ns,
                .name = f->file,
                .start = strcmp(mt_strtab_get(r->strings, f->name), "START") == 0};
    }
    mt_snap_marks_pair(&d->user_defined);
}

void mt_snap_find_marks(struct mt_snap_replayer *r, struct mt_snap_device *d)
{
    d->regions.node = MT_NONE;
    find_annotations(r, d);
    find_user_defined(r, d);
}
