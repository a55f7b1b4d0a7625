#include "lib/compat/compat_events.h"

#include <stdlib.h>

/*
 * Up to PyTorch 2.3 a file holds floor(start) and floor(end) in microseconds, and PyTorch itself
 * computed with floor(start) and floor(start) + floor(duration): its end is the file's or one
 * microsecond earlier. Which one it was is not in the file.
 */
enum { US = 1000 };
/* Ends that agree to the microsecond seldom run deeper; a file made to do so must not cost more. */
enum { CHAIN_MAX = 32, SAME_TIME_MAX = 256 };

static int64_t may_lose(const struct mt_ct_event *e)
{
    return e->end > e->start && (uint64_t)e->end - (uint64_t)e->start >= US ? US : 0;
}

/* The first record of e that lies at its end: in doubt when e may lose its last microsecond. */
static size_t first_at_end(const struct mt_ct *ct, const struct mt_ct_event *e)
{
    size_t lo = e->rec_lo, hi = e->rec_hi;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (ct->t[mid] < e->end)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/*
 * Whether the earlier end is the better guess, by what stands at the end of the event: measured on
 * recordings in nanoseconds, rounded down (docs/compat-torch.md). Records of the own thread are
 * taken to be inside when they are its first allocation (unless the next event starts there and may
 * have made it), or frees after its last child; a leaf frees nothing, its caller does.
 */
static bool ends_earlier(const struct mt_ct *ct, const struct mt_ct_event *e)
{
    size_t at_end = first_at_end(ct, e);
    bool own = false, allocates = false;
    for (size_t i = at_end; i < e->rec_hi && i < at_end + SAME_TIME_MAX; i++) {
        const struct mt_torch_record *r = &ct->in->records[ct->record[i]];
        if (r->thread == e->thread) {
            own = true;
            allocates |= r->bytes > 0;
        }
    }
    if (!own)
        return mt_ct_sub(e->end, e->start) == US;
    if (allocates && at_end > e->rec_lo)
        return true;
    if (allocates)
        return e->child_n == 0 && (e->flags & MT_CT_FOLLOWED);
    const struct mt_ct_event *parent = e->parent == MT_CT_NONE ? NULL : &ct->events.v[e->parent];
    if (e->child_n == 0 || (parent && parent->end == e->end))
        return true;
    return parent && !(e->flags & MT_CT_KID_ENDS);
}

/* How the children of an event may turn out. */
struct brood {
    uint32_t certain_n, possible_n;
    struct mt_ct_range bytes; /* of all of them */
};

/* Whether c is the child of z whatever their ends, if no event between them takes it. Where both
 * have the same interval, a child that was really inside its parent never outlasts it. */
static bool is_certain(const struct mt_ct_event *c, const struct mt_ct_event *z)
{
    return c->start < z->end - may_lose(z) && (c->end < z->end || c->start == z->start);
}

static bool is_sure_child(const struct mt_ct *ct, const struct mt_ct_event *c)
{
    return c->parent != MT_CT_NONE && is_certain(c, &ct->events.v[c->parent]);
}

/* The next possible parent after p of c, MT_CT_NONE when there is none. */
static uint32_t next_parent(const struct mt_ct *ct, const struct mt_ct_event *c, uint32_t p,
                            int *depth)
{
    const struct mt_ct_event *z = &ct->events.v[p];
    return is_certain(c, z) || ++*depth == CHAIN_MAX ? MT_CT_NONE : z->parent;
}

static void count_broods(const struct mt_ct *ct, struct brood *broods)
{
    for (size_t k = 0; k < ct->events.n; k++) {
        const struct mt_ct_event *c = &ct->events.v[k];
        int depth = 0;
        if (is_sure_child(ct, c))
            broods[c->parent].certain_n++;
        for (uint32_t p = c->parent; p != MT_CT_NONE; p = next_parent(ct, c, p, &depth))
            broods[p].possible_n++;
    }
}

/* Whether c can be, or must be, the only child of a parent of its name: then PyTorch folds it. */
static bool may_fold(const struct mt_ct *ct, const struct mt_ct_event *c,
                     const struct brood *broods)
{
    int depth = 0;
    for (uint32_t p = c->parent; p != MT_CT_NONE; p = next_parent(ct, c, p, &depth)) {
        uint32_t others = broods[p].certain_n - (p == c->parent && is_sure_child(ct, c));
        if (ct->events.v[p].name == c->name && others == 0)
            return true;
    }
    return false;
}

static bool must_fold(const struct mt_ct *ct, const struct mt_ct_event *c,
                      const struct brood *broods)
{
    return is_sure_child(ct, c) && ct->events.v[c->parent].name == c->name &&
           broods[c->parent].possible_n == 1;
}

static struct mt_ct_range both(struct mt_ct_range a, struct mt_ct_range b)
{
    return (struct mt_ct_range){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

static struct mt_ct_range or_none(struct mt_ct_range a)
{
    return both(a, (struct mt_ct_range){0, 0});
}

static void add_range(struct mt_ct_range *to, struct mt_ct_range a)
{
    to->lo = mt_ct_add(to->lo, a.lo);
    to->hi = mt_ct_add(to->hi, a.hi);
}

/* Bytes of e with and without the records at its end. */
static struct mt_ct_range own_bytes(const struct mt_ct *ct, enum mt_ct_figure f,
                                    const struct mt_ct_event *e)
{
    int64_t all = mt_ct_bytes(ct, f, e->rec_lo, e->rec_hi);
    if (!may_lose(e))
        return (struct mt_ct_range){all, all};
    int64_t less = mt_ct_bytes(ct, f, e->rec_lo, first_at_end(ct, e));
    return both((struct mt_ct_range){all, all}, (struct mt_ct_range){less, less});
}

/* Adds what e can contribute to its group and to its possible parents. Children come first. */
static void add_event_ranges(struct mt_ct *ct, enum mt_ct_figure f, const struct mt_ct_event *e,
                             struct brood *broods, const struct brood *own)
{
    struct mt_ct_range bytes = own_bytes(ct, f, e), one = {1, 1};
    struct mt_ct_range self = {mt_ct_sub(bytes.lo, own->bytes.hi),
                               mt_ct_sub(bytes.hi, own->bytes.lo)};
    struct mt_ct_range as_child = bytes;
    if (must_fold(ct, e, broods)) {
        bytes = self = one = (struct mt_ct_range){0, 0};
        as_child = own->bytes;
    } else if (may_fold(ct, e, broods)) {
        bytes = or_none(bytes);
        self = or_none(self);
        one = or_none(one);
        as_child = both(as_child, own->bytes);
    }
    if (!is_sure_child(ct, e))
        as_child = or_none(as_child);
    int depth = 0;
    for (uint32_t p = e->parent; p != MT_CT_NONE; p = next_parent(ct, e, p, &depth))
        add_range(&broods[p].bytes, as_child);
    if (e->group == MT_CT_NONE)
        return;
    struct mt_ct_range *range = ct->groups.v[e->group].range;
    add_range(&range[f], bytes);
    add_range(&range[f == MT_CT_CPU ? MT_CT_SELF_CPU : MT_CT_SELF_DEVICE], self);
    if (f == MT_CT_CPU)
        add_range(&range[MT_CT_COUNT], one);
}

/* The [memory] row: records that no event can cover, and those that only ends in doubt cover. */
static void add_uncovered_ranges(struct mt_ct *ct)
{
    int32_t *sure = mt_alloc((ct->rec_n + 1) * sizeof *sure);
    for (size_t k = 0; k < ct->events.n; k++) {
        const struct mt_ct_event *e = &ct->events.v[k];
        sure[e->rec_lo]++;
        sure[may_lose(e) ? first_at_end(ct, e) : e->rec_hi]--;
    }
    int64_t possibly = 0, surely = 0;
    struct mt_ct_range sum[2] = {{0, 0}, {0, 0}}, count = {0, 0};
    for (size_t i = 0; i < ct->rec_n; i++) {
        possibly += ct->cover[i];
        surely += sure[i];
        if (surely)
            continue;
        count.hi++;
        count.lo += possibly == 0;
        for (int f = 0; f < 2; f++) {
            int64_t b = mt_ct_bytes(ct, (enum mt_ct_figure)f, i, i + 1);
            struct mt_ct_range r = {b, b};
            add_range(&sum[f], possibly ? or_none(r) : r);
        }
    }
    free(sure);
    if (count.hi == 0)
        return;
    uint32_t group = mt_ct_group(ct, ct->memory, UINT32_MAX, false);
    struct mt_ct_range *range = ct->groups.v[group].range;
    range[MT_CT_COUNT] = count;
    range[MT_CT_CPU] = range[MT_CT_SELF_CPU] = sum[MT_CT_CPU];
    range[MT_CT_DEVICE] = range[MT_CT_SELF_DEVICE] = sum[MT_CT_DEVICE];
}

static void find_ranges(struct mt_ct *ct)
{
    struct brood *broods = mt_alloc(ct->events.n * sizeof *broods);
    count_broods(ct, broods);
    for (int f = 0; f < 2; f++) {
        for (size_t k = ct->events.n; k-- > 0;) {
            uint32_t e = ct->order[k];
            add_event_ranges(ct, (enum mt_ct_figure)f, &ct->events.v[e], broods, &broods[e]);
        }
        for (size_t k = 0; k < ct->events.n; k++)
            broods[k].bytes = (struct mt_ct_range){0, 0};
    }
    free(broods);
    add_uncovered_ranges(ct);
}

/* A child of the same interval lies inside its parent, so it has lost what its parent has lost. */
static void shorten(struct mt_ct *ct)
{
    struct mt_ct_event *v = ct->events.v;
    bool *earlier = mt_alloc(ct->events.n * sizeof *earlier);
    for (size_t k = 0; k < ct->events.n; k++) {
        uint32_t e = ct->order[k], p = v[e].parent;
        bool as_parent =
            p != MT_CT_NONE && earlier[p] && v[p].start == v[e].start && v[p].end == v[e].end;
        earlier[e] = as_parent || (may_lose(&v[e]) && ends_earlier(ct, &v[e]));
    }
    for (size_t k = 0; k < ct->events.n; k++)
        v[k].end -= earlier[k] ? US : 0;
    free(earlier);
}

void mt_ct_settle_whole_us(struct mt_ct *ct)
{
    size_t op_n = ct->events.n;
    mt_ct_add_failed(ct);
    mt_ct_sort(ct);
    mt_ct_nest(ct);
    struct mt_ct_event *v = ct->events.v;
    for (size_t k = 0; k < ct->events.n; k++) {
        if (v[k].parent != MT_CT_NONE && v[v[k].parent].end == v[k].end)
            v[v[k].parent].flags |= MT_CT_KID_ENDS;
    }
    find_ranges(ct);
    shorten(ct);
    ct->events.n = op_n;
}
