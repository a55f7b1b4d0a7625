/* Annotations of snapshots: regions of several threads and devices, which the file does not tell
 * apart, made up, against what the one who made them knows. */
#include "formats/format.h"
#include "lib/build/build.h"
#include "tests/unit/pickles.h"
#include "tests/unit/rows.h"
#include <stdio.h>

#define OK(call) assert_int_equal((call), MT_OK)

enum { REGIONS = 300, DEPTH = 6, ROUNDS = 40, NAMES = 5 };

struct mark {
    int64_t t_us;
    int name, device;
    bool start;
};

struct program {
    uint32_t seed;
    MT_VEC(struct mark) marks;
    int64_t time_us; /* of all regions */
    int region_n;
    int first_used; /* the device; those before it have no events */
};

static uint32_t draw(struct program *p, uint32_t n)
{
    p->seed = p->seed * 1664525 + 1013904223;
    return (p->seed >> 16) % n;
}

/* A thread: regions in regions, from t_us on. Each has a name that no other thread has, lest an end
 * is taken for another's. */
static int64_t run_thread(struct program *p, int thread, int device, int64_t t_us, int depth)
{
    while (draw(p, 4) && p->region_n < REGIONS) {
        int name = thread * NAMES + (int)draw(p, NAMES);
        int64_t start = t_us += draw(p, 3);
        *mt_vec_push(&p->marks) = (struct mark){t_us, name, device, true};
        p->region_n++;
        if (depth < DEPTH)
            t_us = run_thread(p, thread, device, t_us, depth + 1);
        t_us += draw(p, 10);
        *mt_vec_push(&p->marks) = (struct mark){t_us, name, device, false};
        p->time_us += t_us - start;
    }
    return t_us;
}

/* In order of time; those of one moment as they come, thread by thread. */
static void sort_marks(struct program *p)
{
    for (size_t i = 1; i < p->marks.n; i++) {
        struct mark m = p->marks.v[i];
        size_t k = i;
        for (; k && p->marks.v[k - 1].t_us > m.t_us; k--)
            p->marks.v[k] = p->marks.v[k - 1];
        p->marks.v[k] = m;
    }
}

static struct mt_buf pickle_of(const struct program *p)
{
    struct mt_buf out = {0};
    char name[16];
    mt_buf_adds(&out, "\x80\x02}(");
    put_text(&out, "device_traces");
    mt_buf_adds(&out, "](");
    for (int device = 0; device < 2; device++) {
        mt_buf_adds(&out, device < p->first_used ? "]" : "](}(");
        if (device < p->first_used)
            continue;
        put_text_member(&out, "action", "alloc");
        put_member(&out, "addr", 1 << 20);
        put_member(&out, "size", 512);
        put_member(&out, "time_us", 0);
        mt_buf_adds(&out, "ue");
    }
    mt_buf_adds(&out, "e");
    put_text(&out, "external_annotations");
    mt_buf_adds(&out, "](");
    for (size_t i = 0; i < p->marks.n; i++) {
        snprintf(name, sizeof name, "region%d", p->marks.v[i].name);
        mt_buf_adds(&out, "}(");
        put_text_member(&out, "stage", p->marks.v[i].start ? "START" : "END");
        put_text_member(&out, "name", name);
        put_member(&out, "device", p->marks.v[i].device);
        put_member(&out, "time_us", p->marks.v[i].t_us);
        mt_buf_adds(&out, "u");
    }
    mt_buf_adds(&out, "eu.");
    return out;
}

static void read_pickle(const struct mt_buf *pickle, struct mt_recording *rec)
{
    const struct mt_read_opts opts = {.cpp_frames = MT_CPP_FOLD};
    struct mt_err err = MT_ERR_INIT;
    struct mt_stream *in;
    OK(mt_stream_open_memory(pickle->s, pickle->n, &in, &err));
    mt_rec_init(rec);
    OK(mt_reader_read(&mt_reader_cuda_snapshot, in, &opts, rec, &err));
    mt_stream_close(in);
    OK(mt_build(rec, NULL, &err));
}

/* Ops of a thread lie in each other or apart, in order of start, as reports take them; what each
 * takes beyond its children is its own. */
static void check_thread(const struct mt_thread *t, const struct mt_recording *rec, int64_t *self)
{
    for (uint32_t i = 0; i < t->ops.n; i++) {
        const struct mt_op *op = &t->ops.v[i], *next = op + 1;
        self[op->node] += op->end_ns - op->start_ns;
        if (op->parent != MT_NONE) {
            assert_in_range(op->parent, t->op_base, t->op_base + i - 1);
            const struct mt_op *parent = &t->ops.v[op->parent - t->op_base];
            assert_true(parent->start_ns <= op->start_ns && op->end_ns <= parent->end_ns);
            assert_int_equal(rec->nodes.v[op->node].parent, parent->node);
            self[parent->node] -= op->end_ns - op->start_ns;
        }
        /* What the next one is not in has ended. */
        uint32_t around = t->op_base + i;
        for (; i + 1 < t->ops.n && around != next->parent && around != MT_NONE;
             around = t->ops.v[around - t->op_base].parent)
            assert_true(t->ops.v[around - t->op_base].end_ns <= next->start_ns);
        assert_true(i + 1 == t->ops.n || op->start_ns <= next->start_ns);
    }
}

static const struct threads {
    const char *name;
    int per_device;
    bool known; /* regions nest as their threads do */
    int first_used;
} kinds[] = {{"one thread", 1, true, 0},
             {"two threads", 2, false, 0},
             {"many threads", 12, false, 0},
             {"regions of a device without events are around those of the other", 1, false, 1}};

static void test_regions(void **state)
{
    const struct threads *kind = *state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct program p = {.seed = round, .first_used = kind->first_used};
        struct mt_recording rec;
        int64_t time_ns = 0;
        for (int i = 0; i < 2 * kind->per_device; i++) {
            p.region_n = 0;
            run_thread(&p, i, i % 2, draw(&p, 20), 0);
        }
        sort_marks(&p);
        struct mt_buf pickle = pickle_of(&p);
        read_pickle(&pickle, &rec);
        int64_t *self = mt_alloc((rec.nodes.n + 1) * sizeof *self);
        for (size_t i = 0; i < rec.threads.n; i++)
            check_thread(&rec.threads.v[i], &rec, self);
        for (size_t i = 0; i < rec.nodes.n; i++) {
            assert_true(rec.nodes.v[i].self_time_ns >= 0);
            assert_int_equal(rec.nodes.v[i].self_time_ns, self[i]);
            time_ns += rec.nodes.v[i].time_ns;
        }
        assert_int_equal(rec.op_n * 2, p.marks.n);
        assert_int_equal(time_ns, p.time_us * 1000);
        assert_int_equal(rec.notes[MT_NOTE_UNMATCHED_BE].count, 0);
        assert_true(!kind->known || rec.threads.n <= 2);
        free(self);
        mt_buf_free(&pickle);
        mt_vec_free(&p.marks);
        mt_rec_free(&rec);
    }
}

int main(void)
{
    struct row_tests tests = {0};
    ROWS_ADD(&tests, test_regions, kinds);
    return ROWS_RUN(&tests, "snapshot regions");
}
