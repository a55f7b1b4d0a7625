#include "lib/usage/held.h"

#include "lib/base/wrap.h"
#include "lib/run/knows.h"

struct adder {
    const struct mt_run_device *device;
    bool end;
    struct mt_live_set *out;
};

struct mt_allocation mt_held(uint32_t node, int64_t bytes, int64_t blocks_n)
{
    return (struct mt_allocation){.origin = mt_origin_of_node(node),
                                  .bytes = bytes,
                                  .blocks_n = blocks_n,
                                  .alloc_ns = INT64_MIN,
                                  .alloc_record = 0,
                                  .freed_ns = INT64_MAX,
                                  .freed_record = INT64_MAX};
}

static void add(struct adder *a, uint32_t node, int64_t bytes, int64_t blocks_n)
{
    bool counts = mt_device_knows(a->device, MT_KNOWS_COUNTS);
    if (!bytes && !blocks_n)
        return;
    *mt_vec_push(&a->out->blocks) = mt_held(node, bytes, counts ? blocks_n : MT_UNKNOWN);
    mt_wrap_inc(&a->out->sum_b, bytes);
}

static void add_node(void *closure, uint64_t node, int64_t bytes, int64_t blocks_n)
{
    add(closure, (uint32_t)node, bytes, blocks_n);
}

enum mt_status mt_held_at(struct mt_allocations *l, const struct mt_run_device *device,
                          int64_t record, struct mt_live_set *out, struct mt_err *err)
{
    struct adder a = {device, record == MT_AT_END, out};
    unsigned need = a.end ? MT_KNOWS_AT_END : MT_KNOWS_AT_PEAK;
    int64_t outside_b = a.end ? device->outside_at_end_b : device->outside_at_peak_b;
    out->rest = mt_device_knows(device, need) ? l->tree.outside_name : MT_HELD_UNKNOWN;
    if (!mt_device_knows(device, need))
        return MT_OK;
    MT_TRY(mt_load_held(l->db, l->run, device->id, l->tree.nodes.n, a.end, add_node, &a, err));
    int64_t known_n = 0, all_n = a.end ? device->at_end_n : MT_UNKNOWN;
    for (size_t i = 0; i < out->blocks.n; i++)
        mt_wrap_inc(&known_n, out->blocks.v[i].blocks_n);
    if (outside_b)
        add(&a, MT_NONE, outside_b, MT_UNKNOWN);
    if (outside_b && all_n != MT_UNKNOWN)
        out->blocks.v[out->blocks.n - 1].blocks_n = mt_wrap_sub(all_n, known_n);
    return MT_OK;
}
