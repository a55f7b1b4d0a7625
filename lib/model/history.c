#include "lib/model/history.h"

void mt_history_free(struct mt_history *h)
{
    mt_vec_free(&h->moments);
    mt_curve_free(&h->curve);
    mt_vec_free(&h->keyframes);
    mt_buf_free(&h->live);
    mt_vec_free(&h->sites);
    mt_retained_free(&h->holdings);
    mt_vec_free(&h->max_lifetime);
    mt_vec_free(&h->kept_gradients);
}
