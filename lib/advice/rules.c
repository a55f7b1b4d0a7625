/* The table of advice, and what rules do with it. */
#include "lib/advice/rules.h"

#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include <stdlib.h>

const char *const mt_advice_bound_names[MT_BOUND_N] = {"exact", "about", "up_to", "none"};

const struct mt_advice_rule mt_advice_rules[] = {
    {"no_grad", "turn autograd off where no backward pass follows",
     "with torch.no_grad(): ...   (or torch.inference_mode())", NULL,
     "every graph that is built is run backward",
     .still = "still builds graphs that no backward pass runs", .apply = mt_advise_no_grad},
    {"stop_keeping", "stop keeping what grows from step to step",
     "kept.append(x.mean().item())   (or del x)", NULL,
     "nothing that is kept grows from step to step",
     .still = "still keeps as much from step to step", .apply = mt_advise_stop_keeping},
    {"detach", "detach what you keep of an iteration, so that its graph can go",
     "total += loss.item()   (of a part: x[:1].detach().clone(); and del loss, outputs before the "
     "next iteration)",
     NULL, "no graph outlives the two iterations after its own",
     .still = "still keeps graphs of earlier iterations", .apply = mt_advise_detach},
    {"clone", "keep copies of the part of the results that you need",
     "kept.append(logits[:1].detach().clone())   (of a number: x.item())", NULL,
     "no result outlives the two iterations after its own",
     .still = "still keeps results of earlier iterations", .apply = mt_advise_clone},
    {"checkpoint", "recompute the activations of repeated layers in backward",
     "x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)",
     "a second forward pass of the layers in each step",
     "no layers repeat themselves before a backward pass, or they are checkpointed already",
     .still = "computes nothing again in backward", .apply = mt_advise_checkpoint},
    {"accumulate", "accumulate gradients over smaller batches",
     "for part in batch.chunk(N): (loss(part) / N).backward(); then one optimizer.step()",
     "more, smaller kernels", "there is no backward pass, or no optimizer",
     .still = "has no more backward passes for each step of the optimizer",
     .apply = mt_advise_accumulate, .resizes = true},
    {"bfloat16", "keep the model and what it computes in bfloat16", "model = model.bfloat16()",
     "numbers have 8 bits of precision: training may change",
     "the largest matrix product or convolution is not of float32, or does not show its type "
     "(record_shapes=True), or quantized layers take float32 alone",
     .still = "still computes in float32", .apply = mt_advise_bfloat16, .resizes = true,
     .retypes = true},
    {"zero_grad_early", "free the gradients as soon as the optimizer has stepped",
     "optimizer.step(); optimizer.zero_grad(set_to_none=True)", NULL,
     "no gradient is alive while a later forward pass runs",
     .still = "still holds gradients while other work runs", .apply = mt_advise_zero_grad_early},
    {"set_to_none", "free gradients instead of filling them with zeros",
     "optimizer.zero_grad(set_to_none=True)", NULL, "zero_grad fills no gradients with zeros",
     .still = "still fills gradients with zeros", .apply = mt_advise_set_to_none},
    {"foreach_false", "step the optimizer tensor by tensor", "torch.optim.Adam(..., foreach=False)",
     "a slower optimizer step",
     "no optimizer of torch.optim works on all tensors at once (foreach)",
     .still = "does not step its optimizer tensor by tensor", .apply = mt_advise_foreach_false,
     .not = "fused"},
    {"fused", "use the fused optimizer", "torch.optim.Adam(..., fused=True)", NULL,
     "no optimizer that has a fused form works on all tensors at once (foreach)",
     .still = "has no fused step of an optimizer", .apply = mt_advise_fused},
    {"chunked_loss", "compute the output layer and the loss in parts",
     "loss = sum(checkpoint(head_and_sum_loss, h, t, use_reentrant=False) for h, t in "
     "zip(hidden.chunk(N), targets.chunk(N))) / targets.numel()",
     "a second forward pass of the output layer in each step",
     "the loss makes no block of 5 % of the peak",
     .still = "still makes blocks as large for the loss", .apply = mt_advise_chunked_loss,
     .resizes = true},
    {"load_on_demand", "make each batch when it is needed",
     "for batch in loader:   (not list(loader))", NULL, "no batches are made ahead of their steps",
     .still = "still makes batches ahead of their steps", .apply = mt_advise_load_on_demand},
    {"del_before_backward", "del results that backward does not need before you call it",
     "loss = criterion(model(x), y)   (or: del logits)", NULL,
     "no variable holds a result that backward does not need",
     .still = "still holds results that backward does not need",
     .apply = mt_advise_del_before_backward},
    {"del_results", "delete results once nothing takes them any more",
     "del x   (or: x = f(x), and functions that return)", NULL,
     "there are layers or threads, which name results, too, or shapes do not show who takes them "
     "(record_shapes=True)",
     .still = "still holds results that nothing takes any more", .apply = mt_advise_del_results},
};
const size_t mt_advice_rule_n = MT_ARRAY_LEN(mt_advice_rules);

void mt_advice_plan_init(struct mt_advice_plan *p, const struct mt_advice_facts *f,
                         const struct mt_advice_choice *choice)
{
    size_t room = f->blocks.n + f->blocks.n / 4; /* some rules add lives */
    struct mt_lives lives = p->lives;
    *p = (struct mt_advice_plan){.f = f, .choice = choice, .lives = lives, .price_ns = MT_UNKNOWN};
    p->touched = mt_alloc(f->blocks.n + 1);
    if (p->lives.all.cap < room)
        mt_vec_room(&p->lives.all, room);
    mt_advice_lives(f, &p->lives);
}

void mt_advice_plan_end(struct mt_advice_plan *p)
{
    mt_buf_free(&p->subject);
    mt_buf_free(&p->because);
    mt_buf_free(&p->how);
    mt_buf_free(&p->price);
    free(p->piece);
    free(p->touched);
    p->piece = NULL;
    p->touched = NULL;
}

void mt_advice_plan_free(struct mt_advice_plan *p)
{
    mt_advice_plan_end(p);
    mt_vec_free(&p->lives.all);
}

bool mt_advice_cut(struct mt_advice_plan *p, size_t block, int64_t record)
{
    struct mt_life *life = &p->lives.all.v[block];
    if (life->to <= record)
        return false;
    life->to = record;
    return p->touched[block] = true;
}

void mt_advice_resize(struct mt_advice_plan *p, size_t block, int64_t bytes)
{
    int64_t recorded = p->f->blocks.v[block].bytes, now = p->lives.all.v[block].bytes;
    if (now != recorded && recorded > 0)
        bytes = (int64_t)((double)now * ((double)bytes / (double)recorded));
    p->lives.all.v[block].bytes = bytes;
    p->touched[block] = true;
}

void mt_advice_add(struct mt_advice_plan *p, int64_t from_ns, int64_t to_ns, int64_t bytes)
{
    *mt_vec_push(&p->lives.all) =
        (struct mt_life){mt_advice_record(p->f, from_ns), mt_advice_record(p->f, to_ns), bytes};
}

/* The peak as it was recorded: of a process, of its own blocks. */
static int64_t recorded_peak(const struct mt_advice_facts *f)
{
    struct mt_lives lives = {0};
    if (!f->is_part)
        return f->peak_b;
    mt_advice_lives(f, &lives);
    int64_t peak_b = mt_advice_peak(f, &lives);
    mt_vec_free(&lives.all);
    return peak_b;
}

void mt_advice_doubt(struct mt_advice_plan *plan, int64_t least, int64_t most, const char *when,
                     const char *is)
{
    const struct mt_advice_facts *f = plan->f;
    char bytes[MT_HUMAN_MAX];
    if (most <= least || mt_wrap_sub(most, least) <= mt_wrap_sub(recorded_peak(f), least) / 10)
        return;
    plan->bound = MT_BOUND_UP_TO;
    if (f->is_part)
        mt_buf_addf(&plan->because, "; if %s, it saves less", when);
    else
        mt_buf_addf(&plan->because, "; if %s, the peak %s %s", when, is,
                    mt_human_bytes(most, bytes));
}

void mt_advice_find_growth(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    if (!f->growing_of)
        return;
    bool *seen = mt_alloc(f->growing.n + 1);
    p->growth = (struct mt_advice_growth){0};
    for (size_t i = 0; i < f->blocks.n; i++) {
        uint32_t node = f->blocks.v[i].node;
        uint32_t at = p->touched[i] && node != MT_NONE ? f->growing_of[node] : MT_NONE;
        if (at == MT_NONE || seen[at])
            continue;
        seen[at] = true;
        p->growth.sure |= f->growing.v[at].sure;
        p->growth.per_step_b += f->growing.v[at].per_step_b;
        p->growth.per_step_n += f->growing.v[at].per_step_n;
    }
    free(seen);
}
