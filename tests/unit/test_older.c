/* lib/build/older.c: what recordings written down as text tell of blocks that are older and in no
 * record; lib/build/told_base.c: what somebody tells of them. */
#include "lib/build/told_base.h"
#include "tests/unit/built.h"

#include <inttypes.h>
#include <string.h>

#define ENGINE "autograd::engine::evaluate_function: "
#define ADD_UP ENGINE "torch::autograd::AccumulateGrad"
/* A backward pass from T0 to T9 of one parameter: 8 B of gradient that stay until another end. */
#define BACKWARD(t, end)                                                                           \
    "1 op " t "0 " t "3 " ENGINE "MmBackward0\n1 mem " t "1 8 " t " cpu\n1 op " t "4 " t           \
    "9 " ADD_UP "\n1 mem " end " -8 " t " cpu\n"
#define FORWARD(t)    "1 op " t "0 " t "9 aten::linear\n1 mem " t "1 4 " t " cpu\n"
#define STEP(t, name) "1 annotation " t "0 " t "9 Optimizer.step#" name ".step\n"

#define REDUCED(t) "1 op " t " " t " torch.distributed.ddp.reducer::copy_bucket_to_grad\n"

/* A hook of a gradient of 8 B, from T2 to T9. */
#define STEPPED(t, address)                                                                        \
    "1 op " t "2 " t "9 " ADD_UP "\n1 annotation " t "3 " t "5 Optimizer.step#SGD.step\n1 op " t   \
    "4 " t "5 aten::add_\n1 annotation " t "6 " t "8 Optimizer.zero_grad#SGD.zero_grad\n1 mem " t  \
    "7 -8 " address " cpu\n"

/* "cpu 8 to 24", "cpu 8 or more", "cpu unknown", one for each device that uses such blocks. */
static void tell_older(struct mt_recording *r, struct mt_buf *out)
{
    char name[32];
    for (size_t i = 0; i < r->devices.n; i++) {
        const struct mt_device *d = &r->devices.v[i];
        mt_device_name(d->type, d->index, name);
        if (d->uses_kept && d->kept_least_b == MT_GONE)
            mt_buf_addf(out, "%s unknown\n", name);
        else if (d->uses_kept && d->kept_most_b == MT_GONE)
            mt_buf_addf(out, "%s %" PRId64 " or more\n", name, d->kept_least_b);
        else if (d->uses_kept)
            mt_buf_addf(out, "%s %" PRId64 " to %" PRId64 "\n", name, d->kept_least_b,
                        d->kept_most_b);
    }
}

static const struct told estimates[] = {
    {"a gradient tells of a parameter; of its optimizer nothing is seen",
     FORWARD("1") BACKWARD("2", "35") FORWARD("3"), "cpu 8 or more\n", NULL},
    {"Adam has twice as much and a scalar", FORWARD("1") BACKWARD("2", "45") STEP("3", "Adam"),
     "cpu 28 to 28\n", NULL},
    {"DistributedDataParallel has buckets as large as what it reduces",
     FORWARD("1") BACKWARD("2", "55") REDUCED("31") STEP("4", "Adam"), "cpu 36 to 36\n", NULL},
    {"less those that the recording makes",
     "1 annotation 1 9 DistributedDataParallel.forward\n1 op 2 4 aten::empty\n1 mem 3 8 b cpu\n"
     "1 op 5 6 aten::as_strided\n" FORWARD("1") BACKWARD("2", "55") REDUCED("31") STEP("4", "Adam"),
     "cpu 28 to 28\n", NULL},
    {"where it reduces one model of two, the other's gradients may be in buckets, too",
     FORWARD("1") BACKWARD("2", "55") REDUCED("31") STEP("4", "SGD")
         FORWARD("6") "1 op 70 73 " ENGINE "MmBackward0\n1 mem 71 8 7 cpu\n1 op 73 74 " ADD_UP
                      "\n1 op 74 75 " ENGINE "MmBackward0\n1 mem 75 16 8 cpu\n1 op 76 79 " ADD_UP
                      "\n" REDUCED("80") STEP("9", "SGD"),
     "cpu 32 to 72\n", NULL},
    {"less what it makes in the recording",
     FORWARD("1") BACKWARD("2", "45")
         STEP("3", "Adam") "1 op 31 38 aten::zeros\n1 mem 32 8 a cpu\n1 mem 33 8 b cpu\n1 mem 34 4 "
                           "c cpu\n",
     "cpu 8 to 8\n", NULL},
    {"a model and its state that the recording frees after the last pass are counted",
     FORWARD("1") BACKWARD("2", "45") STEP("3", "Adam") "1 mem 50 -8 a cpu\n1 mem 51 -8 b cpu\n"
                                                        "1 mem 52 -8 c cpu\n1 mem 53 -4 d cpu\n",
     "", NULL},
    {"of a part of them that may be an average, too, nobody knows",
     FORWARD("1") BACKWARD("2", "45") STEP("3", "Adam") "1 mem 50 -8 a cpu\n1 mem 51 -16 b cpu\n",
     "cpu 20 to 28\n", NULL},
    {"a gradient that is older than the recording is no part of a model",
     "1 annotation 1 5 Optimizer.zero_grad#Adam.zero_grad\n1 mem 2 -8 a cpu\n" FORWARD("1")
         BACKWARD("2", "45") STEP("3", "Adam"),
     "cpu 28 to 28\n", NULL},
    {"a pass that makes sparse gradients tells nothing of what learns",
     FORWARD("1") "1 op 20 23 " ENGINE "EmbeddingBackward0\n1 op 21 22 "
                  "aten::_sparse_coo_tensor_unsafe\n1 mem 21 8 2 cpu\n1 op 24 29 " ADD_UP
                  "\n1 mem 45 -8 2 cpu\n" STEP("3", "Adam"),
     "cpu unknown\n", NULL},
    {"a fused SGD has momentum or not",
     FORWARD("1") BACKWARD("2", "45") STEP("3", "SGD") "1 op 31 38 aten::_fused_sgd_\n",
     "cpu 8 to 16\n", NULL},
    {"one that multiplies has",
     FORWARD("1") BACKWARD("2", "45")
         STEP("3", "SGD") "1 op 31 33 aten::mul_\n1 op 34 36 aten::add_\n",
     "cpu 16 to 16\n", NULL},
    {"one that only adds has not",
     FORWARD("1") BACKWARD("2", "45") STEP("3", "SGD") "1 op 31 33 aten::add_\n", "cpu 8 to 8\n",
     NULL},
    {"what optimizers of other names keep, nobody knows",
     FORWARD("1") BACKWARD("2", "45") STEP("3", "MySGD"), "cpu 8 or more\n", NULL},
    {"data as large as a gradient may be what it is of",
     "1 op 1 5 aten::rand\n1 mem 2 8 a cpu\n" FORWARD("1") BACKWARD(
         "2", "35") "1 mem 36 -8 a cpu\n1 op 37 39 aten::rand\n1 mem 38 8 a cpu\n" FORWARD("4")
         BACKWARD("5", "65") "1 mem 66 -8 a cpu",
     "cpu 0 or more\n", NULL},
    {"but not if another pass leaves one without it",
     FORWARD("1") BACKWARD("2", "35") "1 op 36 38 aten::rand\n1 mem 37 8 a cpu\n" FORWARD("4")
         BACKWARD("5", "65") "1 mem 66 -8 a cpu",
     "cpu 8 or more\n", NULL},
    {"a model that is built in the recording is not older",
     "1 op 1 5 aten::empty\n1 mem 2 8 a cpu\n1 op 6 7 aten::uniform_\n" FORWARD("1")
         BACKWARD("2", "35"),
     "", NULL},
    {"nor is one whose building computes, and then makes what is as large as another",
     "1 op 1 2 aten::linalg_qr\n1 op 3 6 aten::zeros_like\n1 op 4 5 aten::empty_like\n1 mem 4 8 a "
     "cpu\n1 op 7 8 aten::fill_\n" FORWARD("1") BACKWARD("2", "35"),
     "", NULL},
    {"but what is made so once parameters are used is none",
     FORWARD("1") "1 op 192 196 aten::zeros_like\n1 mem 193 8 a cpu\n" BACKWARD("2", "35"),
     "cpu 8 or more\n", NULL},
    {"nor a layer that is added to it before it has a gradient",
     "1 op 1 5 aten::empty\n1 mem 2 8 a cpu\n" FORWARD("1")
         BACKWARD("2", "35") "1 op 36 39 aten::empty\n1 mem 37 16 b cpu\n" FORWARD(
             "4") "1 op 50 52 " ENGINE "MmBackward0\n1 mem 51 8 c cpu\n1 op 52 53 " ADD_UP
                  "\n1 op 54 56 " ENGINE "MmBackward0\n1 mem 55 16 d cpu\n1 op 57 59 " ADD_UP "\n",
     "", NULL},
    {"but what comes behind the first is none of its own",
     "1 op 1 5 aten::empty\n1 mem 2 8 a cpu\n" FORWARD(
         "1") "1 op 20 21 " ENGINE "MmBackward0\n1 mem 20 8 c cpu\n1 op 21 22 " ADD_UP
              "\n1 op 23 25 " ENGINE "MmBackward0\n1 mem 24 16 d cpu\n1 op 26 29 " ADD_UP
              "\n1 op 36 39 aten::empty\n1 mem 37 16 b cpu\n" FORWARD("4") BACKWARD("5", "65"),
     "cpu 16 or more\n", NULL},
    {"a pass that shows fewer gradients than it should says nothing",
     FORWARD("1") BACKWARD("2", "35") "1 op 291 299 " ADD_UP, "cpu unknown\n", NULL},
    {"a checkpoint that runs backward in itself accumulates the gradient of what it is given, too",
     FORWARD("1") "1 op 20 29 " ENGINE "CheckpointFunctionBackward\n"
                  "1 op 21 28 CheckpointFunctionBackward\n1 op 22 23 " ENGINE "MmBackward0\n"
                  "1 mem 22 8 2 cpu\n1 op 23 24 " ADD_UP "\n1 op 24 25 " ENGINE "MmBackward0\n"
                  "1 mem 24 16 3 cpu\n1 op 25 26 " ADD_UP "\n1 mem 29 -16 3 cpu\n",
     "cpu 8 or more\n", NULL},
    {"a pass goes on where hooks step an optimizer for each of its gradients",
     FORWARD("1") "1 op 20 22 " ENGINE "MmBackward0\n1 mem 21 8 2 cpu\n" STEPPED(
         "2", "2") "1 op 30 32 " ENGINE "MmBackward0\n1 mem 31 8 3 cpu\n" STEPPED("3", "3"),
     "cpu 16 to 16\n", NULL},
    {"and where such a hook drops the gradient itself; what it makes is none",
     FORWARD("1") "1 op 20 22 " ENGINE "MmBackward0\n1 mem 21 8 2 cpu\n1 op 22 29 " ADD_UP
                  "\n1 annotation 23 25 Optimizer.step#SGD.step\n1 op 24 25 aten::add_\n"
                  "1 op 26 27 aten::norm\n1 mem 26 4 4 cpu\n1 mem 28 -8 2 cpu\n"
                  "1 mem 29 -4 4 cpu\n1 op 30 32 " ENGINE
                  "MmBackward0\n1 mem 31 8 3 cpu\n" STEPPED("3", "3"),
     "cpu 16 to 16\n", NULL},
    {"what is added to a gradient that stays is gone before such a hook runs",
     FORWARD("1") "1 op 20 22 " ENGINE "MmBackward0\n1 mem 21 8 2 cpu\n1 op 22 29 " ADD_UP
                  "\n1 op 23 24 aten::add_\n1 mem 24 -8 2 cpu\n"
                  "1 annotation 25 28 Optimizer.step#SGD.step\n1 op 26 27 aten::add_\n",
     "cpu 8 to 16\n", NULL},
    {"gradients that stay are added to",
     FORWARD("1") "1 op 20 23 " ENGINE "MmBackward0\n1 mem 21 8 2 cpu\n1 op 24 29 " ADD_UP
                  "\n1 mem 25 -8 2 cpu\n" STEP("3", "Adagrad") FORWARD(
                      "4") "1 op 50 53 " ENGINE "MmBackward0\n1 mem 51 8 2 cpu\n1 op 54 59 " ADD_UP
                           "\n1 mem 55 -8 2 cpu\n",
     "cpu 20 to 28\n", NULL},
    {"without gradients, ops that compute with parameters show that there are some", FORWARD("1"),
     "cpu unknown\n", NULL},
    {"not if a model is built first",
     "1 op 1 5 aten::empty\n1 mem 2 8 a cpu\n1 op 6 7 aten::uniform_\n" FORWARD("1"), "", NULL},
    {"other ops show nothing",
     "1 op 1 5 aten::rand\n1 mem 2 8 a cpu\n1 op 6 9 aten::relu\n1 mem 7 "
     "8 b cpu\n",
     "", NULL},
};

static void test_estimates(void **state)
{
    check_told(*state, tell_older);
}

/* What --base takes: what it means, or what is wrong. */
static const struct meaning {
    const char *name, *text, *want;
} meanings[] = {
    {"a size is of the CPU", "8MiB", "cpu 8388608"},
    {"nothing is a size", "0", "cpu 0"},
    {"another device", "cuda:0=1.5KiB", "cuda:0 1536"},
    {"no size", "cuda:0", "invalid --base size 'cuda:0'"},
    {"no device", "=8", "invalid --base size '=8'"},
    {"below nothing", "-1", "invalid --base size '-1'"},
    {"more than there can be", "2EiB", "invalid --base size '2EiB'"},
};

static void test_meanings(void **state)
{
    const struct meaning *m = *state;
    struct mt_bases bases = {0};
    struct mt_err err = MT_ERR_INIT;
    struct mt_buf text = {0};
    if (mt_base_parse(m->text, &bases, &err) == MT_OK) {
        mt_buf_addf(&text, "%s %" PRId64, bases.v[0].device, bases.v[0].bytes);
        assert_int_equal(mt_base_parse(m->text, &bases, &err), MT_EUSAGE); /* twice */
    } else
        mt_buf_adds(&text, err.what);
    assert_string_equal(text.s, m->want);
    mt_buf_free(&text);
    mt_vec_free(&bases);
}

/* What the metadata of a file says. */
static void tell_kept(struct mt_recording *r, struct mt_buf *out)
{
    const char *text = mt_strtab_get(&r->strings, r->labels.v[0].recorded);
    uint32_t key = mt_strtab_add(&r->strings, MT_BASE_KEY, strlen(MT_BASE_KEY));
    uint32_t value = mt_strtab_add(&r->strings, text, strlen(text));
    memset(r->notes, 0, sizeof r->notes);
    *mt_vec_push(&r->meta) = (struct mt_meta){key, value};
    mt_base_read_meta(r);
    for (size_t i = 0; i < r->devices.n; i++)
        if (r->devices.v[i].kept_from)
            mt_buf_addf(out, "%s %" PRId64 "\n", mt_kept_names[r->devices.v[i].kept_from],
                        r->devices.v[i].kept_b);
}

#define SAYS(json) "1 op 0 9 " json "\n1 mem 1 8 1 cpu\n1 mem 2 8 1 cuda"
static const struct told metas[] = {
    {"a number is of the CPU", SAYS("4096"), "file 4096\n", ""},
    {"or numbers by device", SAYS("{\"cuda:0\": 1, \"cpu\": 0}"), "file 0\nfile 1\n", ""},
    {"devices without records do not matter", SAYS("{\"cuda:7\": 1}"), "", ""},
    {"the first of two sizes counts", SAYS("{\"cpu\": 1, \"cuda:0\": 2, \"cuda\": 3}"),
     "file 1\nfile 2\n", "base_twice 1"},
    {"twice the same is one", SAYS("{\"cuda:0\": 2, \"cuda\": 2}"), "file 2\n", ""},
    {"a text is no number", SAYS("\"8MiB\""), "", "bad_base 1"},
    {"nor is what is below nothing", SAYS("-8"), "", "bad_base 1"},
    {"nor too much", SAYS("1152921504606846976"), "", "bad_base 1"},
    {"nor a list", SAYS("[1]"), "", "bad_base 1"},
    {"nor what is no JSON", SAYS("{"), "", "bad_base 1"},
};

static void test_metas(void **state)
{
    check_told(*state, tell_kept);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, test_estimates, estimates);
    ROWS_ADD(&tests, test_meanings, meanings);
    ROWS_ADD(&tests, test_metas, metas);
    return ROWS_RUN(&tests, "older");
}
