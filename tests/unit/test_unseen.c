/* lib/build/unseen.c: blocks that end where their memory is handed out again, in recordings written
 * down as text, and in random ones against a plain search. */
#include "tests/unit/built.h"

#include <stdlib.h>

static const struct told records[] = {
    {"a block ends where its address is handed out again",
     "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 3 4 1 cpu\n1 mem 5 -4 1 cpu",
     "1 +8 in a, mate 3\n3 -8 unseen, mate 1\n3 +4 in a, mate 5\n5 -4 in a, mate 3\n",
     "freed_unseen 1"},
    {"each at the next time",
     "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 3 8 1 cpu\n1 mem 5 8 1 cpu\n1 mem 6 2 2 cpu",
     "1 +8 in a, mate 3\n3 -8 unseen, mate 1\n3 +8 in a, mate 5\n5 -8 unseen, mate 3\n"
     "5 +8 in a\n6 +2 in a\n",
     "freed_unseen 2"},
    {"or a part of its memory",
     "1 op 0 9 a\n1 mem 1 10 1000 cpu\n1 mem 2 4 100f cpu\n1 mem 3 4 2000 cpu\n1 mem 4 8 1ffc cpu",
     "1 +10 in a\n2 +4 in a\n3 +4 in a, mate 4\n4 -4 unseen, mate 3\n4 +8 in a\n",
     "freed_unseen 1"},
    {"memory beside it says nothing",
     "1 op 0 9 a\n1 mem 1 16 1010 cpu\n1 mem 2 16 1000 cpu\n1 mem 3 16 1020 cpu",
     "1 +16 in a\n2 +16 in a\n3 +16 in a\n", ""},
    {"several at once",
     "1 op 0 9 a\n1 mem 1 1 1000 cpu\n1 mem 2 2 1010 cpu\n1 mem 3 4 1020 cpu\n1 mem 4 8 1030 cpu\n"
     "1 mem 5 40 1001 cpu",
     "1 +1 in a\n2 +2 in a, mate 5\n3 +4 in a, mate 5\n4 +8 in a\n5 -4 unseen, mate 3\n"
     "5 -2 unseen, mate 2\n5 +40 in a\n",
     "freed_unseen 2"},
    {"also by a block within it",
     "1 op 0 9 a\n1 mem 1 4096 1000 cpu\n1 mem 5 1 1800 cpu\n1 mem 6 1 1900 cpu",
     "1 +4096 in a, mate 5\n5 -4096 unseen, mate 1\n5 +1 in a\n6 +1 in a\n", "freed_unseen 1"},
    {"up to the last address",
     "1 op 0 9 a\n1 mem 1 64 fffffffffffffff0 cpu\n1 mem 2 4 8 cpu\n1 mem 3 1 ffffffffffffffff cpu",
     "1 +64 in a\n2 +4 in a\n3 +1 in a\n", ""},
    {"what a record frees later is left alone by what lies within it",
     "1 op 0 9 a\n1 mem 1 8 1000 cpu\n1 mem 2 4 1002 cpu\n1 mem 3 -8 1000 cpu",
     "1 +8 in a, mate 3\n2 +4 in a\n3 -8 in a, mate 1\n", ""},
    {"other devices and processes have memory of their own",
     "1 op 0 9 a\n2:1 op 0 9 b\n1 mem 1 8 1 cpu\n2:1 mem 2 8 1 cpu\n1 mem 3 8 1 cuda0",
     "1 +8 in a\n2 +8 in b\n3 +8 in a\n", ""},
    {"threads of one process do not", "1 op 0 9 a\n2 op 0 9 b\n1 mem 1 8 1 cpu\n2 mem 2 8 1 cpu",
     "1 +8 in a, mate 2\n2 -8 unseen, mate 1\n2 +8 in b\n", "freed_unseen 1"},
    {"of two threads at one moment the one recorded first came first",
     "1 op 0 9 a\n2 op 0 9 b\n1 mem 2 8 1 cpu\n2 mem 2 8 1 cpu\n1 mem 5 8 1 cpu\n1 mem 6 -8 1 cpu",
     "2 +8 in a, mate 2\n2 -8 unseen, mate 2\n2 +8 in b, mate 5\n5 -8 unseen, mate 2\n"
     "5 +8 in a, mate 6\n6 -8 in a, mate 5\n",
     "freed_unseen 2"},
    {"as of two of one thread", "1 op 0 9 a\n1 mem 2 8 1 cpu\n1 mem 2 8 1 cpu",
     "2 +8 in a, mate 2\n2 -8 unseen, mate 2\n"
     "2 +8 in a\n",
     "freed_unseen 1"},
    {"blocks of no bytes have no memory",
     "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 2 0 1 cpu\n1 mem 3 0 1 cpu",
     "1 +8 in a\n2 +0 in a\n3 +0 in a\n", ""},
    {"where most records have no address, nothing is known",
     "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 2 8 0 cpu\n1 mem 3 8 0 cpu\n1 mem 4 8 0 cpu\n"
     "1 mem 5 8 1 cpu",
     "1 +8 in a\n2 +8 in a\n3 +8 in a\n4 +8 in a\n5 +8 in a\n", "no_address 3"},
};

/* Frees of memory that the recording handed out before: of blocks allocated since. */
static const struct told alloc_unseen[] = {
    {"a block is allocated as soon as its memory was free",
     "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 2 -8 1 cpu\n1 mem 3 4 2 cpu\n1 mem 9 -8 1 cpu",
     "1 +8 in a, mate 2\n2 -8 in a, mate 1\n2 +8 unseen, mate 9\n3 +4 in a\n9 -8 in a, mate 2\n",
     "alloc_unseen 1"},
    {"of any size, when the last of it was",
     "1 op 0 9 a\n1 mem 1 8 1000 cpu\n1 mem 2 8 1008 cpu\n1 mem 3 -8 1008 cpu\n"
     "1 mem 4 -8 1000 cpu\n1 mem 9 -12 1004 cpu",
     "1 +8 in a, mate 4\n2 +8 in a, mate 3\n3 -8 in a, mate 2\n4 -8 in a, mate 1\n"
     "4 +12 unseen, mate 9\n9 -12 in a, mate 4\n",
     "alloc_unseen 1"},
    {"a block that still lies there ends then, as late as can be",
     "1 op 0 9 a\n1 mem 1 8 1000 cpu\n1 mem 3 2 2 cpu\n1 mem 9 -12 1004 cpu",
     "1 +8 in a, mate 9\n3 +2 in a\n9 -8 unseen, mate 1\n9 +12 unseen, mate 9\n"
     "9 -12 in a, mate 9\n",
     "freed_unseen 1, alloc_unseen 1"},
    {"a place can be freed twice, but only once of a block older than the recording",
     "1 op 0 9 a\n1 mem 1 -8 1 cpu\n1 mem 4 -4 1 cpu\n1 mem 6 -2 1 cpu",
     "1 -8 in a\n1 +4 unseen, mate 4\n4 -4 in a, mate 1\n4 +2 unseen, mate 6\n6 -2 in a, mate 4\n",
     "before_trace 1, alloc_unseen 2"},
    {"memory beside it says nothing, nor that of others",
     "1 op 0 9 a\n2:1 op 0 9 b\n1 mem 1 8 1000 cpu\n1 mem 2 -8 1000 cpu\n1 mem 3 -8 1008 cpu\n"
     "1 mem 4 -8 ff8 cpu\n1 mem 5 -8 1000 cuda0\n2:1 mem 6 -8 1000 cpu",
     "1 +8 in a, mate 2\n2 -8 in a, mate 1\n3 -8 in a\n4 -8 in a\n5 -8 in a\n6 -8 in b\n",
     "before_trace 4"},
    {"where most records have no address, nothing is known",
     "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 2 -8 1 cpu\n1 mem 3 -8 0 cpu\n1 mem 4 8 0 cpu\n"
     "1 mem 5 8 0 cpu\n1 mem 6 8 0 cpu\n1 mem 7 -8 1 cpu",
     "1 +8 in a, mate 2\n2 -8 in a, mate 1\n3 -8 in a\n4 +8 in a\n5 +8 in a\n6 +8 in a\n7 -8 in "
     "a\n",
     "no_address 4"},
};

static const struct told devices[] = {
    {"no more than one block at an address at a time",
     "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 3 8 1 cpu\n1 mem 5 -8 1 cpu\n1 mem 7 -8 1 cpu",
     "cpu +24 -24 end 0 peak 8 at 1, outside 1 (+8 -0 peak 0), before 0 (peak 0), "
     "unseen 1 (8), born 1 (8), doubt 0 and 0\n",
     "freed_unseen 1, alloc_unseen 1"},
    {"what is born unseen is outside ops, and perhaps not there yet",
     "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 2 -8 1 cpu\n1 mem 3 4 2 cpu\n1 mem 7 -8 1 cpu",
     "cpu +20 -16 end 4 peak 12 at 3, outside 1 (+8 -0 peak 8), before 0 (peak 0), "
     "unseen 0 (0), born 1 (8), doubt 8 and 0\n",
     "alloc_unseen 1"},
    {"levels and peaks know it, what is outside ops does not",
     "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 3 8 1 cpu\n1 mem 20 8 1 cpu\n1 mem 21 2 2 cpu",
     "cpu +26 -16 end 10 peak 10 at 21, outside 2 (+10 -0 peak 10), before 0 (peak 0), "
     "unseen 2 (16), doubt 0 and 0\n",
     "freed_unseen 2, outside_ops 2"},
    {"what makes the peak is alive there",
     "1 op 0 9 a\n1 mem 1 4 1 cpu\n1 mem 2 2 2 cpu\n1 mem 3 8 1 cpu",
     "cpu +14 -4 end 10 peak 10 at 3, outside 0 (+0 -0 peak 0), before 0 (peak 0), "
     "unseen 1 (4), doubt 2 and 10\n",
     "freed_unseen 1"},
    {"what may be dead: blocks of the site that no record frees, of any size",
     "1 annotation 0 99 s\n1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 2 4 2 cpu\n1 mem 3 2 3 cpu\n"
     "1 op 20 29 b\n1 mem 21 1 4 cpu\n1 mem 22 8 1 cpu\n1 mem 23 -4 2 cpu\n1 mem 24 -8 1 cpu",
     "cpu +23 -20 end 3 peak 15 at 21, outside 0 (+0 -0 peak 0), before 0 (peak 0), "
     "unseen 1 (8), doubt 10 and 2\n",
     "freed_unseen 1"},
};

static void tell_sites(struct mt_recording *r, struct mt_buf *out)
{
    mt_buf_addf(out, "%s\n", r->notes[MT_NOTE_UNSEEN].detail);
}

static const struct told sites[] = {
    {"sites as reports name them",
     "1 annotation 0 99 train\n1 python 0 20 a.py(1): f\n1 mem 1 8 1 cpu\n1 mem 3 8 1 cpu\n"
     "1 python 20 40 a.py(9): g\n1 op 25 30 aten::add\n1 mem 21 8 1 cpu\n1 mem 26 4 2 cpu\n"
     "1 mem 35 4 2 cpu",
     "[Python] in train, aten::add in train\n", "freed_unseen 3"},
};

static void test_sites(void **state)
{
    check_told(*state, tell_sites);
}

static void test_records(void **state)
{
    check_told(*state, tell_records);
}

static void test_devices(void **state)
{
    check_told(*state, tell_devices);
}

/* ---- random records ---- */

enum { SEEDS = 40, RECORDS = 400 };

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % n;
}

/* A program whose blocks lie anywhere; some are freed by a record, the others as they may be;
 * and frees of other blocks. */
static void make(struct mt_recording *r, int seed)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_record *rec;
    struct mt_record allocs[RECORDS];
    size_t birth_n = 0;
    random_state = (uint64_t)seed;
    mt_rec_init(r);
    mt_rec_device(r, 0, -1);
    uint32_t thread = mt_rec_thread(r, 1, MT_NONE, 1, MT_NONE);
    for (int i = 0; i < RECORDS; i++) {
        assert_int_equal(mt_rec_record(r, &rec, &err), MT_OK);
        *rec = (struct mt_record){.t_ns = i,
                                  .bytes = 1 + (int64_t)random_below(1 + random_below(60)),
                                  .addr = 4096 + random_below(seed % 2 ? 400 : 4000),
                                  .order = (uint32_t)i,
                                  .thread = thread,
                                  .op = MT_NONE,
                                  .mate = MT_NONE,
                                  .has_addr = true};
        if (birth_n && random_below(3) == 0) {
            rec->bytes = -allocs[birth_n - 1].bytes;
            rec->addr = allocs[--birth_n].addr;
        } else if (random_below(8) == 0)
            rec->bytes = -rec->bytes;
        else if (random_below(2))
            allocs[birth_n++] = *rec;
    }
    assert_int_equal(mt_build(r, NULL, &err), MT_OK);
}

/* Where the block that the record at `allocation` allocates ends if nothing frees it: the place of
 * the next allocation that gets memory of it. */
static size_t end_of(const struct mt_recording *r, size_t alloc)
{
    const struct mt_record *b = &r->records.v[alloc];
    for (size_t i = alloc + 1; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        if (rec->bytes > 0 && rec->addr < b->addr + (uint64_t)b->bytes &&
            b->addr < rec->addr + (uint64_t)rec->bytes)
            return i;
    }
    return SIZE_MAX;
}

/* The latest record that is about memory of the block that the record at `death` frees; SIZE_MAX:
 * none is. */
static size_t before_alloc_of(const struct mt_recording *r, size_t death)
{
    const struct mt_record *d = &r->records.v[death];
    for (size_t i = death; i-- > 0;) {
        const struct mt_record *rec = &r->records.v[i];
        uint64_t bytes = (uint64_t)(rec->bytes < 0 ? -rec->bytes : rec->bytes);
        if (!rec->unseen && rec->addr < d->addr + (uint64_t)-d->bytes &&
            d->addr < rec->addr + bytes)
            return i;
    }
    return SIZE_MAX;
}

/* A free without an allocation of the file: of an older block, or of one allocated where its memory
 * was free, or at the latest moment if that is not known. */
static bool check_birth(const struct mt_recording *r, size_t death)
{
    const struct mt_record *d = &r->records.v[death];
    const struct mt_record *alloc = d->mate == MT_NONE ? NULL : &r->records.v[d->mate];
    if (alloc && !alloc->unseen)
        return false;
    size_t last = before_alloc_of(r, death);
    assert_int_equal(alloc != NULL, last != SIZE_MAX);
    if (alloc && r->records.v[last].bytes < 0)
        assert_int_equal(alloc->t_ns, r->records.v[last].t_ns);
    else if (alloc)
        assert_true(alloc->t_ns == d->t_ns);
    return alloc;
}

static void test_random(void **state)
{
    (void)state;
    size_t unseen_n = 0, born_n = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        struct mt_recording r;
        make(&r, seed);
        for (size_t i = 0; i < r.records.n; i++) {
            const struct mt_record *rec = &r.records.v[i];
            if (rec->mate != MT_NONE)
                assert_int_equal(r.records.v[rec->mate].mate, i);
            assert_true(!i || rec[-1].t_ns <= rec->t_ns);
            if (rec->bytes < 0 && !rec->unseen)
                born_n += check_birth(&r, i);
            if (rec->bytes < 0)
                continue;
            const struct mt_record *mate = rec->mate == MT_NONE ? NULL : &r.records.v[rec->mate];
            if (mate && !mate->unseen)
                continue;
            size_t end = end_of(&r, i);
            assert_int_equal(mate != NULL, end != SIZE_MAX);
            if (mate)
                assert_int_equal(mate->t_ns, r.records.v[end].t_ns);
            unseen_n += mate != NULL;
        }
        mt_rec_free(&r);
    }
    assert_true(unseen_n > 1000);
    assert_true(born_n > 1000);
}

int main(void)
{
    static const struct CMUnitTest random_test = cmocka_unit_test(test_random);
    static struct row_tests tests;
    ROWS_ADD(&tests, test_records, records);
    ROWS_ADD(&tests, test_records, alloc_unseen);
    ROWS_ADD(&tests, test_devices, devices);
    ROWS_ADD(&tests, test_sites, sites);
    tests.v[tests.n++] = random_test;
    return ROWS_RUN(&tests, "unseen");
}
