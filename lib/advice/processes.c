#include "lib/advice/processes.h"

#include <stdlib.h>
#include <string.h>

/* ---- facts ---- */

/* By op of the whole, its index in its own part. Allocated. */
static uint32_t *find_places(const struct mt_advice_facts *f, const uint32_t *process,
                             uint32_t process_n)
{
    uint32_t *place = mt_alloc((f->ops.n + 1) * sizeof *place);
    uint32_t *n = mt_alloc((process_n + 1) * sizeof *n);
    for (size_t i = 0; i < f->ops.n; i++)
        place[i] = n[process[i]]++;
    free(n);
    return place;
}

/* The split, while it is made. */
struct split {
    const struct mt_advice_facts *f;
    const uint32_t *process, *place; /* by op */
};

/* An op of the whole in a part; MT_NONE: it is of another. */
static uint32_t in_part(const struct split *s, uint32_t part, uint32_t op)
{
    return op != MT_NONE && s->process[op] == part ? s->place[op] : MT_NONE;
}

static void add_ops(const struct split *s, struct mt_advice_part *parts)
{
    for (size_t i = 0; i < s->f->ops.n; i++) {
        uint32_t part = s->process[i];
        struct mt_advice_op op = s->f->ops.v[i];
        op.parent = in_part(s, part, op.parent);
        op.top = in_part(s, part, op.top);
        op.optimizer = in_part(s, part, op.optimizer);
        op.forward = in_part(s, part, op.forward);
        *mt_vec_push(&parts[part].facts.ops) = op;
    }
    for (size_t i = 0; i < s->f->optimizers.n; i++) {
        uint32_t op = s->f->optimizers.v[i];
        *mt_vec_push(&parts[s->process[op]].facts.optimizers) = s->place[op];
    }
    for (size_t i = 0; i < s->f->zero_grads.n; i++) {
        uint32_t op = s->f->zero_grads.v[i];
        *mt_vec_push(&parts[s->process[op]].facts.zero_grads) = s->place[op];
    }
}

/* Blocks that ops allocate: of the others nothing is known that a rule goes by. */
static void add_blocks(const struct split *s, struct mt_advice_part *parts)
{
    for (size_t i = 0; i < s->f->blocks.n; i++) {
        struct mt_advice_block b = s->f->blocks.v[i];
        if (b.alloc_op == MT_NONE)
            continue;
        uint32_t part = s->process[b.alloc_op];
        b.freed_op = in_part(s, part, b.freed_op);
        b.alloc_op = s->place[b.alloc_op];
        *mt_vec_push(&parts[part].facts.blocks) = b;
        *mt_vec_push(&parts[part].block) = (uint32_t)i;
    }
}

void mt_advice_split(struct mt_advice_facts *f, const uint32_t *process, uint32_t process_n)
{
    if (process_n < 2)
        return;
    uint32_t *place = find_places(f, process, process_n);
    const struct split s = {f, process, place};
    f->parts = mt_alloc(process_n * sizeof *f->parts);
    f->part_n = process_n;
    for (uint32_t i = 0; i < process_n; i++)
        f->parts[i].facts = (struct mt_advice_facts){.run = f->run,
                                                     .device = f->device,
                                                     .steps = f->steps,
                                                     .tree = f->tree,
                                                     .record_ns = f->record_ns,
                                                     .record_n = f->record_n,
                                                     .is_part = true};
    add_ops(&s, f->parts);
    add_blocks(&s, f->parts);
    free(place);
}

void mt_advice_parts_free(struct mt_advice_facts *f)
{
    for (uint32_t i = 0; i < f->part_n; i++) {
        struct mt_advice_facts *part = &f->parts[i].facts;
        part->record_ns = NULL; /* these are of the whole */
        part->growing_of = NULL;
        part->growing.v = NULL;
        part->growing.n = 0;
        mt_advice_facts_free(part);
        mt_steps_free(&f->parts[i].steps);
        mt_vec_free(&f->parts[i].block);
    }
    free(f->parts);
    f->parts = NULL;
    f->part_n = 0;
}

/* ---- rules ---- */

/* A plan for a part, from what the whole plan holds so far. */
static void begin_part(const struct mt_advice_plan *p, const struct mt_advice_part *part,
                       struct mt_advice_plan *out)
{
    mt_advice_plan_init(out, &part->facts, p->choice);
    for (size_t i = 0; i < part->block.n; i++)
        out->lives.all.v[i] = p->lives.all.v[part->block.v[i]];
}

/* Adds a text unless it is there. */
static void add_once(struct mt_buf *to, const struct mt_buf *text)
{
    if (text->n && (!to->n || !strstr(to->s, text->s)))
        mt_buf_addf(to, "%s%s", to->n ? "; " : "", text->s);
}

static void take_pieces(struct mt_advice_plan *p, const struct mt_advice_part *part,
                        const struct mt_advice_plan *own, uint32_t before)
{
    if (!own->piece)
        return;
    if (!p->piece)
        p->piece = mt_alloc((p->f->blocks.n + 1) * sizeof *p->piece);
    for (size_t i = 0; i < part->block.n; i++)
        if (own->piece[i])
            p->piece[part->block.v[i]] = before + own->piece[i];
}

/* Takes what a rule has done to a part. */
static void take_part(struct mt_advice_plan *p, const struct mt_advice_part *part,
                      const struct mt_advice_plan *own, uint32_t pieces_before)
{
    for (size_t i = 0; i < own->lives.all.n; i++)
        if (i < part->block.n)
            p->lives.all.v[part->block.v[i]] = own->lives.all.v[i];
        else
            *mt_vec_push(&p->lives.all) = own->lives.all.v[i];
    for (size_t i = 0; i < part->block.n; i++)
        p->touched[part->block.v[i]] |= own->touched[i];
    take_pieces(p, part, own, pieces_before);
    p->bound = own->bound > p->bound ? own->bound : p->bound;
    p->price_ns = own->price_ns > p->price_ns ? own->price_ns : p->price_ns;
    p->growth.sure |= own->growth.sure;
    p->growth.per_step_b += own->growth.per_step_b;
    p->growth.per_step_n += own->growth.per_step_n;
    add_once(&p->subject, &own->subject);
    add_once(&p->because, &own->because);
    add_once(&p->how, &own->how);
    add_once(&p->price, &own->price);
}

/* Of all, where steps tell it: processes may share a site. */
static void grow_together(struct mt_advice_plan *p)
{
    struct mt_advice_growth of_parts = p->growth;
    mt_advice_find_growth(p);
    if (p->growth.per_step_b <= 0)
        p->growth = of_parts;
}

bool mt_advice_apply_rule(struct mt_advice_plan *p, const struct mt_advice_rule *rule)
{
    const struct mt_advice_facts *f = p->f;
    uint32_t n = 0;
    struct mt_buf lacks = {0};
    if (!f->part_n)
        return rule->apply(p);
    for (uint32_t i = 0; i < f->part_n; i++) {
        struct mt_advice_plan own = {0};
        begin_part(p, &f->parts[i], &own);
        if (rule->apply(&own)) {
            take_part(p, &f->parts[i], &own, i << 20);
            n++;
        } else {
            add_once(&lacks, &own.because);
        }
        mt_advice_plan_free(&own);
    }
    if (!n)
        add_once(&p->because, &lacks);
    mt_buf_free(&lacks);
    if (p->growth.per_step_b > 0)
        grow_together(p);
    if (n)
        mt_buf_addf(&p->because, "; in %u of %u processes", n, f->part_n);
    return n > 0;
}
