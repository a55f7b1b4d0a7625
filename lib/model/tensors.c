#include "lib/model/recording.h"

/* Bytes as allocators hand them out: on accelerators in pieces of 512. */
static bool fits(const struct mt_recording *r, const struct mt_record *rec, int64_t bytes)
{
    const int64_t piece = r->devices.v[rec->device].type == MT_DEVICE_CPU ? 1 : 512;
    return rec->bytes >= bytes && rec->bytes - bytes < piece && rec->bytes % piece == 0;
}

uint32_t mt_rec_tensor(const struct mt_recording *r, const struct mt_record *rec)
{
    uint32_t found = MT_NONE;
    if (rec->op == MT_NONE || r->without_ops)
        return MT_NONE;
    const struct mt_thread *t = &r->threads.v[rec->thread];
    const struct mt_op *op = &t->ops.v[rec->op - t->op_base];
    if (op->args == MT_NONE)
        return MT_NONE;
    const struct mt_op_args *args = &r->args.v[op->args];
    bool stays = rec->mate == MT_NONE || r->records.v[rec->mate].t_ns > op->end_ns;
    for (uint32_t i = 0; i < args->made_n; i++) {
        const struct mt_made *made = &r->made.v[args->made_at + i];
        if (!fits(r, rec, made->bytes) || (made->stays && !stays))
            continue;
        if (found != MT_NONE)
            return MT_NONE; /* two that are rounded alike */
        found = made->tensor;
    }
    return found;
}
