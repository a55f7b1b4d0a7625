/* formats/collapsed.c: small files, whole and damaged, and what becomes of them. */
#include "formats/format.h"
#include "tests/unit/rows.h"
#include "tests/unit/summed.h"
#include <string.h>

#define UNSAID "note values_unsaid 1\n"
#define NOT    "not a call path and a whole number behind it, such as \"main;step;read 4096\"\n"

static const struct summed_file collapsed[] = {
    {"what is alive, if nothing is said", "main;f;g 100\nmain;f 20\n",
     " alloc ? n ? peak ? end 120 no time 0\nmain;f 0/0/20\nmain;f;g 0/0/100\n" UNSAID},
    {"--values at-end", "main;f;g 100\n",
     " alloc ? n ? peak ? end 100 no time 0\nmain;f;g 0/0/100\n"},
    {"--values at-peak", "main;f;g 100\n",
     " alloc ? n ? peak 100 end ? no time 0\nmain;f;g 0/100/0\n"},
    {"--values allocated", "main;f;g 100\n",
     " alloc 100 n ? peak ? end ? no time 0\nmain;f;g 100/0/0\n"},
    {"--values temporary, further figures", "main;f;g 100\n",
     " alloc ? n ? peak ? end ? no time 0\nevents 2\ntemporary_b  100\n"},
    {"a path several times, --values at-end", "main;f 1\r\nmain;g 2\r\nmain;f 4\r\n",
     " alloc ? n ? peak ? end 7 no time 0\nmain;f 0/0/5\nmain;g 0/0/2\n"},
    {"as heaptrack_print writes it, --values at-end",
     "main (a.c);f(int, char) (b.cpp);operator new(unsigned long); 5\n0x7f01 (rtld.c); 3\n",
     " alloc ? n ? peak ? end 8 no time 0\nmain;f 0/0/5\n[unknown function] 0/0/3\n"},
    {"files, libraries, lines, parameters, --values at-end",
     "f (libx.so.1);g (/bin/prog);h (a.c:12);i (int);j (...) 5\n",
     " alloc ? n ? peak ? end 5 no time 0\nf;g;h;i (int);j (...) 0/0/5\n"},
    {"functions of Python, --values at-end", "run (/home/me/a.py:3);<module> (<string>:1) 5\n",
     " alloc ? n ? peak ? end 5 no time 0\na.py:3 run;<string>:1 <module> 0/0/5\n"},
    {"roots and allocators are left out, --values at-end", "_start;main;f;malloc 5\n",
     " alloc ? n ? peak ? end 5 no time 0\nmain;f 0/0/5\n"},
    {"they stay, --cpp-frames all, --values at-end", "_start;main;f;malloc 5\n",
     " alloc ? n ? peak ? end 5 no time 0\n_start;main;f;malloc 0/0/5\n"},
    {"blank lines, comments, blanks and nothing between functions, --values at-end",
     "# made today\n\n  ; main ;; f ;  5 \n#1 in f 2\n",
     " alloc ? n ? peak ? end 7 no time 0\nmain;f 0/0/5\nf 0/0/2\n"},
    {"nothing but 0, --values at-end", "main;f 0\n", " alloc ? n ? peak ? end 0 no time 0\n"},
    {"a line that does not fit", "main;f 1\nmain;g\nmain;h 2\n", "error at 9: " NOT},
    {"a line that does not fit, --partial, --values at-end", "main;f 1\nmain;g\nmain;h 2\n",
     " alloc ? n ? peak ? end 1 no time 0\nmain;f 0/0/1\nnote cut 1\n"},
    {"no call path", "main;f 1\n 2\n", "error at 9: " NOT},
    {"a difference", "main;f -1\n", "error at 0: " NOT},
    {"a difference, as difffolded.pl writes it", "main;f 10 20\nmain;g 0 4\n",
     "error at -1: every line has two numbers: this is the difference of two recordings\n"},
    {"a name with a number at its end, --values at-end", "main;worker 1 20\nmain;g 4\n",
     " alloc ? n ? peak ? end 24 no time 0\nmain;worker 1 0/0/20\nmain;g 0/0/4\n"},
    {"a fraction", "main;f 1.5\n", "error at 0: " NOT},
    {"more than can be true", "main;f 9000000000000000000\n", "error at 0: " NOT},
    {"more than can be true in all", "main;f 1000000000000000000\nmain;g 1000000000000000000\n",
     "error at -1: the allocations exceed 1 EiB, or are negative\n"},
    {"cut", "main;f 1\nmain;g 2",
     "error at 17: ends early: its last line has no end, so the number there may be cut off\n"},
    {"cut, --partial, --values at-end", "main;f 1\nmain;g 2",
     " alloc ? n ? peak ? end 1 no time 0\nmain;f 0/0/1\nnote cut 1\n"},
};

static void test_collapsed(void **state)
{
    summed_test(*state, &mt_reader_collapsed);
}

static void test_cuts(void **state)
{
    static const char text[] = "main;f 12\nmain;g;h 3\n";
    static const size_t whole[] = {0, 10};
    (void)state;
    summed_test_cuts(text, &mt_reader_collapsed, whole, 2);
}

static const struct looks {
    const char *name, *text;
    int score;
} looks[] = {
    {"stacks", "main;f 1\nmain;g 2\n", 90},
    {"one stack", "main;f 1\n", 60},
    {"a stack and the beginning of one", "main;f 1\nmain;g", 60},
    {"functions without callers", "f 1\ng 2\n", 0},
    {"the same in brackets, as memtool exports them", "[heap] 1\n[file libc.so.6] 2\n[a+0x1] 3\n",
     90},
    {"arrays of JSON", "[null, [true], 1\n[1] 2\n[] 3\n", 0},
    {"a line that does not fit among them", "main;f 1\nhello\n", 30},
    {"another text with one of them", "main;f 1\nhello\nyou\n", 0},
    {"bytes", "main;\x01 1\n", 0},
    {"nothing", "", 0},
};

static void test_looks(void **state)
{
    const struct looks *l = *state;
    assert_int_equal(mt_reader_collapsed.probe(l->text, strlen(l->text)), l->score);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_collapsed, collapsed);
    ROWS_ADD(&t, test_looks, looks);
    t.v[t.n++] = (struct CMUnitTest)cmocka_unit_test(test_cuts);
    return ROWS_RUN(&t, "collapsed");
}
