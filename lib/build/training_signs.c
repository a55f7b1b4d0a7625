#include "lib/build/training_signs.h"

#include <stdbool.h>
#include <stdlib.h>

/* Of signs of one size between two steps. */
struct counts {
    size_t of[MT_TRAINING_PARTS];
    int64_t first_ns;  /* the first that was built or copied; INT64_MAX: none */
    int64_t zeroed_ns; /* the last that zero_grad freed; INT64_MIN: none */
};

static int sign_cmp(const void *a, const void *b)
{
    const struct mt_training_sign *x = a, *y = b;
    if (x->steps != y->steps)
        return x->steps < y->steps ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* Counts those of the first one's size; where they end. */
static size_t count(const struct mt_training_sign *v, size_t from, size_t n, struct counts *out)
{
    *out = (struct counts){.first_ns = INT64_MAX, .zeroed_ns = INT64_MIN};
    size_t end = from;
    for (; end < n && sign_cmp(&v[end], &v[from]) == 0; end++) {
        bool made = v[end].part == MT_TRAINING_BUILT || v[end].part == MT_TRAINING_COPIED;
        out->of[v[end].part]++;
        if (made && v[end].t_ns < out->first_ns)
            out->first_ns = v[end].t_ns;
        if (v[end].part == MT_TRAINING_ZEROED && v[end].t_ns > out->zeroed_ns)
            out->zeroed_ns = v[end].t_ns;
    }
    return end;
}

static bool is_new(const struct counts *c)
{
    const size_t needed = c->of[MT_TRAINING_GRADIENT];
    const size_t built = c->of[MT_TRAINING_BUILT], copied = c->of[MT_TRAINING_COPIED];
    bool trained = c->of[MT_TRAINING_STATE] >= needed || c->of[MT_TRAINING_GONE] >= needed;
    return c->zeroed_ns < c->first_ns && (built >= needed || (built + copied >= needed && trained));
}

/* Since when the blocks between two steps are a new model; INT64_MAX: they are none. One block may
 * be anything. */
static int64_t new_since(const struct mt_training_sign *v, size_t from, size_t end)
{
    int64_t since = INT64_MAX;
    size_t gradients = 0;
    for (size_t i = from; i < end;) {
        struct counts c;
        i = count(v, i, end, &c);
        if (!c.of[MT_TRAINING_GRADIENT])
            continue;
        if (!is_new(&c))
            return INT64_MAX;
        gradients += c.of[MT_TRAINING_GRADIENT];
        since = c.first_ns < since ? c.first_ns : since;
    }
    return gradients > 1 ? since : INT64_MAX;
}

void mt_training_starts_find(struct mt_training_signs *signs, struct mt_training_starts *out)
{
    const struct mt_training_sign *v = signs->all.v;
    const size_t n = signs->all.n;
    if (n)
        qsort(signs->all.v, n, sizeof *v, sign_cmp);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && v[end].steps == v[i].steps;)
            end++;
        int64_t since = new_since(v, i, end);
        if (since != INT64_MAX)
            *mt_vec_push(&out->t_ns) = since;
    }
}
