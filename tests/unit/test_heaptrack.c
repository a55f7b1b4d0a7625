/* formats/heaptrack*.c: logs of all versions, whole and damaged, and what becomes of them. */
#include "formats/heaptrack_events.h"
#include "lib/base/mem.h"
#include "lib/input/fields.h"
#include "tests/unit/rows.h"
#include "tests/unit/summed.h"

#include <string.h>

#define V3      "v 10400 3\nX ./a b\nI 1000 5e298f\n"
#define KILLED  "# strings: 6\n# ips: 4\n"
#define TRAILER "R 1\n\n" KILLED
/* 1 program, 2 main, 3 file, 4 f, 5 g, 6 C library, 7 malloc */
#define STRINGS "s 4 /a/p\ns 4 main\ns 5 a b.c\ns 4 f(x)\ns 1 g\ns 7 libc.so\ns 6 malloc\n"
/* 1 main, 2 f inlined in g, 3 malloc, 4 somewhere in the C library */
#define IPS "i 10 1 2 3 7\ni 20 1 4 3 8 5 3 9\ni 30 6 7\ni 40 6\n"
/* 1 main, 2 main g f, 3 main g f malloc, 4 main, somewhere */
#define TRACES "t 1 0\nt 2 1\nt 3 2\nt 4 1\n"
#define TABLES V3 STRINGS IPS TRACES
#define FIVES  "a 5 1\na 5 1\na 5 1\na 5 1\na 5 1\na 5 1\n"
#define G_F    "main;g;f "

static const struct summed_file files[] = {
    {"a whole one", TABLES "a a 3\n+ 0\nc 5\nR 3\na 14 4\n+ 1\n- 1\nc f\n" TRAILER,
     " alloc 30 n 2 peak 30 end 10 moments 2 ns 15000000\n" G_F
     "10/10/10\nmain;[libc.so] 20/20/0\n"},
    {"lines end as on another system",
     "v 10400 3\r\ns 4 main\r\ni 1 0 1\r\nt 1 0\r\na a 1\r\n+ 0\r\n# strings: 1\r\n",
     " alloc 10 n 1 peak 10 end 10 moments 1 ns 0\nmain 10/10/10\n"},
    {"strings without sizes, version 2",
     "v 10200 2\ns /a b/p\ns main\ns 5 f(x y)\ni 1 1 2\ni 2 1 3\nt 1 0\nt 2 1\na 5 2\n+ "
     "0\n" TRAILER,
     " alloc 5 n 1 peak 5 end 5 moments 1 ns 0\nmain;f 5/5/5\n"},
    {"a version without a number is 1", "v 10200\ns main\ni 1 0 1\nt 1 0\na 5 1\n+ 0\n" TRAILER,
     " alloc 5 n 1 peak 5 end 5 moments 1 ns 0\nmain 5/5/5\n"},
    {"older still", "v 10100\n+ 5 1 abc\n" TRAILER,
     "error at 0: is a heaptrack log of file version 0, memtool reads 1 to 3\n"},
    {"newer", "v 20000 4\n" TRAILER,
     "error at 0: is a heaptrack log of file version 4, memtool reads 1 to 3\n"},
    {"an event of a raw log", V3 "t 1 0\n+ 5 1 abc\n" TRAILER,
     " alloc 0 n 0 peak 0 end 0 moments 0 ns 0\nnote skipped 2\nnote no_allocations 1\n"},
    {"the second line of a raw log", TABLES "a a 1\nx 4 /a/p\n+ 0\nc 1\n+ 5 1 abc\nc 2\n" TRAILER,
     " alloc 10 n 1 peak 10 end 10 moments 1 ns 2000000\nmain 10/10/10\nnote skipped 2\n"},
    {"all frames, --cpp-frames all", TABLES "a a 3\n+ 0\n" TRAILER,
     " alloc 10 n 1 peak 10 end 10 moments 1 ns 0\nmain;g;f;malloc 10/10/10\n"},
    {"no stack", TABLES "a a 0\n+ 0\na 5 1\n+ 1\n" TRAILER,
     " alloc 15 n 2 peak 15 end 15 outside 10/10/10 moments 1 ns 0\nmain 5/5/5\n"},
    {"the peak is the first of the highest, what paths hold then",
     TABLES "a a 1\na a 2\n+ 0\nc 1\n+ 1\n- 0\nc 2\n+ 0\n" TRAILER,
     " alloc 30 n 3 peak 20 end 20 moments 3 ns 2000000\nmain 20/10/10\n" G_F "10/10/10\n"},
    {"a block of no bytes", TABLES "a 0 1\n+ 0\n- 0\n+ 0\n" TRAILER,
     " alloc 0 n 2 peak 0 end 0 moments 1 ns 0\nmain 0/0/0\n"},
    {"attached later", TABLES "a a 1\n+ 0\nc 1\nA\n+ 0\n+ 0\n- 0\n" TRAILER,
     " alloc 20 n 2 peak 20 end 10 moments 1 ns 1000000\nmain 20/20/10\n"
     "note ran_before 1\n"},
    {"attached later: further figures of what came before are forgotten, too",
     TABLES "a a 1\n- 0\n+ 0\n- 0\n+ 0\n- 0\nA\n+ 0\n- 0\n" TRAILER,
     " alloc 10 n 1 peak 10 end 0 moments 1 ns 0\nmain 10/10/0\n"
     "note ran_before 1\nevents 2\ntemporary_most_n  1\n"},
    {"frees of what is older", TABLES "a a 1\n- 0\n+ 0\n" TRAILER,
     " alloc 10 n 1 peak 10 end 10 moments 1 ns 0\nmain 10/10/10\nnote before_trace 1\n"},
    {"a time before the last", TABLES "a a 1\nc 9\n+ 0\nc 5\nc 10\n" TRAILER,
     " alloc 10 n 1 peak 10 end 10 moments 1 ns 16000000\nmain 10/10/10\nnote clock 1\n"},
    {"numbers that are nowhere",
     TABLES "a a 1\n+ 1\n- 7\n+ fffffffff\n+ 0\nt 9 0\nt 1 99\ni 5 99\na 5 99\n+ 1\n" TRAILER,
     " alloc 10 n 1 peak 10 end 10 moments 1 ns 0\nmain 10/10/10\nnote skipped 8\n"},
    {"a stack that calls itself", TABLES "t 1 5\na a 5\n+ 0\n" TRAILER,
     " alloc 10 n 1 peak 10 end 10 outside 10/10/10 moments 1 ns 0\nnote skipped 1\n"},
    {"lines of another kind", TABLES "a a 1\n+ 0\nhello\n\x01\n+\n+ x\n- \nc\nR q\n" TRAILER,
     " alloc 10 n 1 peak 10 end 10 moments 1 ns 0\nmain 10/10/10\nnote skipped 7\n"},
    {"a string of another size", V3 "s 9 main\ni 1 0 1\nt 1 0\na 5 1\n+ 0\n" TRAILER,
     " alloc 5 n 1 peak 5 end 5 moments 1 ns 0\nmain 5/5/5\nnote skipped 1\n"},
    {"sizes that cannot be", TABLES "a ffffffffffffffff 1\n+ 0\na a 1\n+ 1\n" TRAILER,
     " alloc 10 n 1 peak 10 end 10 moments 1 ns 0\nmain 10/10/10\nnote skipped 2\n"},
    {"more than can be", TABLES "a 4000000000000000 1\n+ 0\n" TRAILER,
     "error at 191: the allocations exceed 1 EiB, or are negative\n"},
    {"more than can be, behind others, is no cut, --partial",
     TABLES "a 4000000000000000 1\n" FIVES FIVES FIVES "+ 11\n+ 1\n- 11\n+ 0\n" TRAILER,
     "error at 313: the allocations exceed 1 EiB, or are negative\n"},
    {"numbers with zeros in front", TABLES "a 5 1\na a 1\n+ 1\n+ 00\n- 001\n+ 00001\n" TRAILER,
     " alloc 25 n 3 peak 15 end 15 moments 1 ns 0\nmain 25/15/15\n"},
    {"times that cannot be", TABLES "a a 1\n+ 0\nc fffffffffffffff\n" TRAILER,
     " alloc 10 n 1 peak 10 end 10 moments 1 ns 0\nmain 10/10/10\nnote skipped 1\n"},
    {"no allocations", TABLES TRAILER,
     " alloc 0 n 0 peak 0 end 0 moments 0 ns 0\nnote no_allocations 1\n"},
    {"no trailer", TABLES "a a 1\n+ 0\n",
     "error at 180: ends early: heaptrack writes \"# strings\" and \"# ips\" last\n"},
    {"no trailer, --partial", TABLES "a a 1\n+ 0\n",
     " alloc 10 n 1 peak 10 end 10 moments 1 ns 0\nmain 10/10/10\nnote cut 1\n"},
    {"of a program that was killed", TABLES "a a 1\nc 1\nR 1\n+ 0\n" KILLED,
     " alloc 10 n 1 peak 10 end 10 moments 1 ns 1000000\nmain 10/10/10\nnote cut 1\n"},
    {"of heaptrack 1.1, which writes what is freed behind its end",
     "v 10100 2\nX ./a\ns /a b/p\ns main\ni 1 1 2\nt 1 0\na 5 1\n+ 0\nR 1\n- 0\n" KILLED,
     " alloc 5 n 1 peak 5 end 0 moments 1 ns 0\nmain 5/5/0\n"},
    {"of another writer, which does not say what is resident",
     "v 10200 2\ns /a b/p\ns main\ni 1 1 2\nt 1 0\na 5 1\n+ 0\n" KILLED,
     " alloc 5 n 1 peak 5 end 5 moments 1 ns 0\nmain 5/5/5\n"},
    {"cut in a line, --partial", TABLES "a 5 1\n+ 0\na a 1\n+ 1",
     " alloc 5 n 1 peak 5 end 5 moments 1 ns 0\nmain 5/5/5\nnote cut 1\n"},
    {"behind the trailer", TABLES "a 5 1\n+ 0\n" TRAILER "+ 0\n",
     " alloc 10 n 2 peak 10 end 10 moments 1 ns 0\nmain 10/10/10\n"},
};

/* ---- raw logs ---- */

#define RAW     "v 10400 3\nx 4 /a/p\nX ./p\nI 1000 5e298f\n"
#define MODULES "m 1 -\nm 1 x 1000 0 100 200 300\nm 9 /l/i b.so 5000 0 1000\n"
#define RAW_END "c 9\nR 3\n"
/* 1 in the program, 2 from there in the library, 3 in nothing */
#define CALLS "t 1211 0\nt 5011 1\nt 9000 0\n"

static const struct summed_file raw[] = {
    {"frames are places in modules, those of the calls; further figures",
     RAW MODULES CALLS "+ a 2 c0de\n+ 14 3 beef\n- beef\n- c0de\n" RAW_END,
     " alloc 30 n 2 peak 30 end 0 moments 1 ns 9000000\n[p+0x210];[i b.so+0x10] 10/10/0\n[0x8fff] "
     "20/20/0\nevents 4\ntemporary_n  1\n"},
    {"only what its next event frees is temporary, whatever lies where it did; further figures",
     RAW MODULES CALLS "+ a 1 10\n+ a 1 20\n- 10\n+ a 1 10\n- 20\nc 1\n- 10\n+ a 1 10\nc 2\n- "
                       "10\n" RAW_END,
     " alloc 40 n 4 peak 20 end 0 moments 2 ns 9000000\n[p+0x210] 40/20/0\nevents 8\n"
     "temporary_n  1\n"},
    {"tables of an interpreted log",
     RAW MODULES "s 4 main\ni 1 0 1\na a 1\n" CALLS "+ a 1 10\nc 1\n+ 5 2 20\n" RAW_END,
     " alloc 15 n 2 peak 15 end 15 moments 2 ns 9000000\n[p+0x210] 10/10/10\n[p+0x210];[i "
     "b.so+0x10] "
     "5/5/5\nnote skipped 3\n"},
    {"frees of what is older, and of nothing",
     RAW MODULES CALLS "- 77\n- 0\n+ a 1 10\n- 77\n" RAW_END,
     " alloc 10 n 1 peak 10 end 10 moments 1 ns 9000000\n[p+0x210] 10/10/10\nnote before_trace "
     "2\n"},
    {"an address that is handed out again", RAW MODULES CALLS "+ a 1 10\n+ 5 1 10\n- 10\n" RAW_END,
     " alloc 15 n 2 peak 10 end 0 moments 1 ns 9000000\n[p+0x210] 15/10/0\n"
     "note replaced 1\n"},
    {"modules are forgotten, and another lies there",
     RAW MODULES "t 5011 0\nm 1 -\nm 3 /q0 5000 0 1000\nt 5011 0\nm 1 -\nt 5011 0\n+ 1 1 10\n+ 2 2 "
                 "20\n+ 4 3 30\n" RAW_END,
     " alloc 7 n 3 peak 7 end 7 moments 1 ns 9000000\n[i b.so+0x10] 1/1/1\n[q0+0x10] 2/2/2\n"
     "[0x5010] 4/4/4\n"},
    {"names without sizes, version 2",
     "v 10200 2\nx /a b/p\nX ./p\nm -\nm x 1000 0 300\nt 1211 0\n+ 5 1 10\n" RAW_END,
     " alloc 5 n 1 peak 5 end 5 moments 1 ns 9000000\n[p+0x210] 5/5/5\n"},
    {"attached later; further figures",
     RAW "A\n" MODULES CALLS "+ a 1 10\n- 10\n+ a 1 20\nA\n- 20\n+ 5 1 10\n- 10\n" RAW_END,
     " alloc 5 n 1 peak 5 end 0 moments 1 ns 9000000\n[p+0x210] 5/5/0\nnote before_trace 1\n"
     "note ran_before 2\nevents 3\n"
     "temporary_n  1\n"},
    {"no stack", RAW MODULES "+ a 0 10\n" RAW_END,
     " alloc 10 n 1 peak 10 end 10 outside 10/10/10 moments 1 ns 9000000\n"},
    {"lines that are damaged",
     RAW "m 99 x 1000\nm 1 y\nm 1 y 1000 0 10 5\nx\n" MODULES CALLS
         "t\nt 5 9\n+ 1 77 10\n+ 1 1\n- \n+ ffffffffffffffff 1 10\n+ a 4 10\n" RAW_END,
     " alloc 10 n 1 peak 10 end 10 outside 10/10/10 moments 1 ns 9000000\nnote skipped 10\n"},
    {"ranges that leave the addresses",
     RAW "m 1 x fffffffffffff000 0 2000 5 0 ffffffffffffffff 9\nt fffffffffffff011 0\n+ 5 1 "
         "10\n" RAW_END,
     " alloc 5 n 1 peak 5 end 5 moments 1 ns 9000000\n[0xfffffffffffff010] 5/5/5\n"},
    {"it goes on behind its last time", RAW MODULES CALLS "+ 5 1 10\n" RAW_END "- 10\n",
     "error at 145: ends early: heaptrack writes the time and the resident memory last\n"},
    {"it goes on behind its last time, --partial", RAW MODULES CALLS "+ 5 1 10\n" RAW_END "- 10\n",
     " alloc 5 n 1 peak 5 end 0 moments 2 ns 9000000\n[p+0x210] 5/5/0\nnote cut 1\n"},
};

static void test_log(void **state)
{
    summed_test(*state, &mt_reader_heaptrack);
}

static void cuts(void **state)
{
    static const char text[] = TABLES "a a 3\n+ 0\nc 5\nR 3\na 14 4\n+ 1\n- 1\nc f\n" TRAILER;
    const size_t n = sizeof text - 1, last = sizeof "# ips: 4\n" - 1;
    size_t whole[64], whole_n = 0;
    (void)state;
    for (size_t i = n - last; i <= n; i++) /* the trailer's second line */
        whole[whole_n++] = i;
    summed_test_cuts(text, &mt_reader_heaptrack, whole, whole_n);
}

/* Stacks as deep as heaptrack records them have lost what was outside, unless they begin where
 * programs do. */
static void deep(void **state)
{
    enum { DEPTH = 62 };
    (void)state;
    for (int rooted = 0; rooted < 2; rooted++) {
        struct mt_buf text = {0};
        mt_buf_adds(&text, V3 "s 1 f\ns 4 main\ns 1 g\ni 1 0 1\ni 2 0 2\ni 3 0 3\n");
        mt_buf_addf(&text, "t %d 0\n", rooted ? 2 : 3);
        for (int i = 1; i < DEPTH; i++)
            mt_buf_addf(&text, "t 1 %x\n", (unsigned)i);
        mt_buf_adds(&text, "a 5 3e\na 5 3d\n+ 0\n+ 1\n" TRAILER);
        const struct summed_file whole = {
            "deep", text.s,
            rooted ? " alloc 10 n 2 peak 10 end 10 moments 1 ns 0\nmain;f 10/10/10\n"
                   : " alloc 10 n 2 peak 10 end 10 moments 1 ns 0\n[stack cut];g;f 5/5/5\ng;f "
                     "5/5/5\n"};
        summed_test(&whole, &mt_reader_heaptrack);
        mt_buf_free(&text);
    }
}

/* Events of 200 kinds, one of them damaged, and `unused` further kinds. Every so often stands a
 * line between that is no event, or one of a kind that there is not. */
static char *log_of_kinds(int unused)
{
    enum { KINDS = 200, EVENTS = 20000 };
    struct mt_buf text = {0};
    uint64_t seed = 5;
    mt_buf_adds(&text, TABLES);
    for (int i = 0; i < KINDS + unused; i++)
        if (i == 77)
            mt_buf_adds(&text, "a x\n");
        else
            mt_buf_addf(&text, "a %x %d\n", (unsigned)i, i % 5);
    for (int i = 0; i < EVENTS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        bool frees = seed >> 63;
        if ((seed >> 32) % 500 == 0)
            mt_buf_addf(&text, "c %x\n+ ffff\n", (unsigned)i);
        mt_buf_addf(&text, "%c %x\n", frees ? '-' : '+', (unsigned)(seed >> 40) % KINDS);
    }
    mt_buf_adds(&text, TRAILER);
    return text.s;
}

/* Where there are many kinds, those of events are fetched before: to the same end. */
static void many_kinds(void **state)
{
    (void)state;
    char *few = log_of_kinds(0), *many = log_of_kinds(10000);
    char *want = summed_text(few, &mt_reader_heaptrack),
         *got = summed_text(many, &mt_reader_heaptrack);
    assert_non_null(strstr(want, "note skipped"));
    assert_non_null(strstr(want, "note before_trace"));
    assert_non_null(strstr(want, "temporary_most_n"));
    assert_string_equal(got, want);
    free(few), free(many), free(want), free(got);
}

/* ---- lines of events ---- */

/* As mt_ht_event_lines, byte by byte. */
static size_t read_lines(const char **p, const char *end, uint32_t kind_n, uint32_t *out)
{
    size_t n = 0;
    for (;; n++) {
        const char *at = *p + 2;
        uint64_t kind = 0;
        unsigned digits = 0;
        if (end - *p < 4 || (**p != '+' && **p != '-') || (*p)[1] != ' ')
            return n;
        for (; at < end && mt_hex_digit(*at) < 16; at++, digits++)
            kind = kind << 4 | mt_hex_digit(*at);
        if (at == end || *at != '\n' || !digits || digits > 8 || kind >= kind_n)
            return n;
        out[n] = (uint32_t)kind << 1 | (**p == '-');
        *p = at + 1;
    }
}

/* All lines of a text, behind which are zero bytes, in both ways. */
static void same_lines(const char *text, size_t n)
{
    uint32_t got[256], want[256];
    const uint32_t kind_n = UINT32_C(1) << 31;
    for (const char *p = text, *end = text + n; p && p < end;) {
        const char *q = p;
        const size_t want_n = read_lines(&q, end, kind_n, want);
        assert_int_equal(mt_ht_event_lines(&p, end, kind_n, got, MT_ARRAY_LEN(got)), want_n);
        assert_ptr_equal(p, q);
        assert_memory_equal(got, want, want_n * sizeof *got);
        p = memchr(p, '\n', (size_t)(end - p));
        p += p != NULL;
    }
}

/* Numbers of all lengths, with every byte at every place, and cut off there. */
static void event_lines(void **state)
{
    static const char lines[] =
        "+ 0\n- 1f\n+ 7ABCDEF0\n- abc\n+ 0cdef\n- 00012345\n+ 123456789\n- 2\n"
        "+ 80000000\n- 7fffffff\n+ 9\n- 99\n+ a\n- dead\n+ f\n- 123456\n";
    enum { N = sizeof lines - 1, ZEROS = 64 };
    (void)state;
    for (size_t place = 0; place < N; place++) {
        char text[N + ZEROS] = {0};
        memcpy(text, lines, place);
        same_lines(text, place);
        memcpy(text, lines, N);
        for (int c = 0; c < 256; c++) {
            text[place] = (char)c;
            same_lines(text, N);
        }
    }
}

/* No more are read than there is room for, and kinds up to the last. */
static void some_event_lines(void **state)
{
    static const char text[256] = "+ 1\n- 2\n+ 3\n- 4\n+ 5\n- 6\n";
    (void)state;
    for (size_t cap = 1; cap <= 8; cap++)
        for (uint32_t kind_n = 1; kind_n <= 8; kind_n++) {
            uint32_t out[8];
            const char *p = text;
            const size_t there = kind_n - 1 < 6 ? kind_n - 1 : 6, want = there < cap ? there : cap;
            assert_int_equal(mt_ht_event_lines(&p, text + strlen(text), kind_n, out, cap), want);
            assert_int_equal(p - text, 4 * want);
            for (size_t i = 0; i < want; i++)
                assert_int_equal(out[i], 2 * (i + 1) + i % 2);
        }
}

/* ---- whether it is one ---- */

static const struct head {
    const char *name, *text;
    bool is;
} heads[] = {
    {"a log", V3, true},
    {"version 1", "v 10200\ns x\n", true},
    {"comments before", "# bytehound\n\nv 10100 2\n", true},
    {"of another system", "v 10400 3\r\n", true},
    {"a word", "very good\n", false},
    {"vertices", "v 1.0 2.0 3.0\n", false},
    {"vertices of whole numbers", "v 1 2 3\n", false},
    {"nothing", "", false},
    {"a beginning", "v 10400 3", false},
    {"comments alone", "# a\n# b\n", false},
};

static void probe(void **state)
{
    const struct head *h = *state;
    assert_int_equal(mt_reader_heaptrack.probe(h->text, strlen(h->text)) >= 90, h->is);
}

int main(void)
{
    static const struct CMUnitTest alone[] = {
        cmocka_unit_test(cuts), cmocka_unit_test(deep), cmocka_unit_test(many_kinds),
        cmocka_unit_test(event_lines), cmocka_unit_test(some_event_lines)};
    struct row_tests t = {0};
    ROWS_ADD(&t, test_log, files);
    ROWS_ADD(&t, test_log, raw);
    ROWS_ADD(&t, probe, heads);
    int failed = ROWS_RUN(&t, "heaptrack");
    return cmocka_run_group_tests(alone, NULL, NULL) + failed;
}
