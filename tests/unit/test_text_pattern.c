/* Texts that --pattern reads. */
#include "tests/unit/process_log.h"
#include "tests/unit/rows.h"

#include <string.h>

#define TEXT "[1] begins\n[1] mem=2.5MB gpu 12 KB\n[2] mem=3 MB gpu 13 KB\n[2] mem=1 MB\n"

/* 4,090 characters: of what is behind 4,096 nothing is read. */
#define X10       "xxxxxxxxxx"
#define X100      X10 X10 X10 X10 X10 X10 X10 X10 X10 X10
#define X1000     X100 X100 X100 X100 X100 X100 X100 X100 X100 X100
#define LONG_LINE X1000 X1000 X1000 X1000 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10

static const struct pattern_file {
    const char *name, *text, *want, *pattern; /* want: what read_process_log says */
} patterns[] = {
    {"steps, levels with units, other figures", TEXT,
     "samples 2 from 0\nprocess 2621440..3145728 until 2 peak 3145728\n"
     "gpu of process 12288 at 1\ngpu of process 13312 at 2\nsteps 1 2\nnote units 4\n",
     "^\\[{step}\\] mem={rss} gpu {gpu}"},
    {"the unit is the line's, else the pattern's", "rss 5 of 7\nrss 6 kB of 7\n",
     "samples 2 from 0\nprocess 5120..6144 until 2 peak 7340032\n"
     "peak_rss of process 7340032 at 1\npeak_rss of process 7340032 at 2\n"
     "note units 3\n",
     "{rss:kib} of {peak_rss:MB}"},
    {"groups, lists and repetitions of the user's", "ab] x1 7 b\n",
     "(null) 0 from 0\nprocess unchanged peak 7\n", "^(a|c)[^]x]{1,2}[]] (x|y[(])?1 {rss}"},
    {"a bracket of a list that has a class", "x( 7 B\nx4 8 B\n",
     "samples 2 from 0\nprocess 7..8 until 2 peak 8\n", "^x[[:digit:](] {rss}"},
    {"a bracket of a list behind a sign of its own", "x( 7 B\n",
     "(null) 0 from 0\nprocess unchanged peak 7\n", "^x[][.a.](] {rss}"},
    {"a backslash in a list is one", "x\\ 7 B\n", "(null) 0 from 0\nprocess unchanged peak 7\n",
     "^x[\\] {rss}"},
    {"an escaped backslash before a field", "x\\7 B\n",
     "(null) 0 from 0\nprocess unchanged peak 7\n", "^x\\\\{rss}"},
    {"of alternatives one has a number", "a 7 B\nb 8 B\n",
     "samples 2 from 0\nprocess unchanged peak 7\nbs of process 8 at 2\n", "^(a {rss}|b {bs})"},
    {"a metric of its own alone", "ram 5 MiB\nram 6 MiB\n",
     "samples 2 from 0\nprocess unchanged peak -9223372036854775808\nram of process 5242880 at "
     "1\nram of process 6291456 at 2\n"
     "note no_level 1\n",
     "ram {ram}"},
    {"no line matches", TEXT, "error: no line matches --pattern\n", "rss={rss}"},
    {"no unit", "5 B\nat 6\n", "error: the number of {rss}, 6, has no unit behind it\n", "{rss}"},
    {"a number that is too long", "99999999999999999999999 B\n5 B\n",
     "(null) 0 from 0\nprocess unchanged peak 5\nnote skipped 1\n", "{rss}"},
    {"no field", TEXT, "error: --pattern has no field\n", "mem=[0-9]+"},
    {"steps alone", TEXT, "error: --pattern has no field\n", "{step}"},
    {"a field twice", TEXT, "error: --pattern: '{rss:MB}' is there twice\n",
     "mem={rss} gpu {rss:MB}"},
    {"a metric by two names", TEXT, "error: --pattern: '{private}' is there twice\n",
     "mem={uss} gpu {private}"},
    {"a name of no size", TEXT, "error: --pattern: '{cpu_ns:MB}' is no size\n",
     "mem={rss:MB} cpu={cpu_ns:MB}"},
    {"two steps", TEXT, "error: --pattern: '{step}' is there twice\n", "{step} {step} {rss}"},
    {"a field in a list", TEXT, "error: --pattern: '{step}' stands in a list [..]\n",
     "^[{step}] mem={rss}"},
    {"a unit that nobody knows behind the number", "mem 512M\nmem 2G\n",
     "error: the number of {rss}, 512, has 'M' behind it, which is no unit\n", "mem {rss:MB}"},
    {"a number that goes on", "mem 1,234,567\n",
     "error: the number of {rss}, 1, goes on behind a comma\n", "mem {rss:KB}"},
    {"a number that goes on behind a point", "mem 1.234.567\n",
     "error: the number of {rss}, 1.234, goes on behind a point\n", "mem {rss:B}"},
    {"a number that goes on behind an apostrophe", "mem 1'234\n",
     "error: the number of {rss}, 1, goes on behind an apostrophe\n", "mem {rss:B}"},
    {"a number that goes on behind a blank", "mem 1 234 KB\n",
     "error: the number of {rss}, 1, goes on behind a blank\n", "mem {rss:KB}"},
    {"a number that goes on behind a blank of Unicode",
     "mem 1\xe2\x80\xaf"
     "234 KB\n",
     "error: the number of {rss}, 1, goes on behind a blank\n", "mem {rss:KB}"},
    {"columns of numbers", "mem 1 234\nmem 5 678\n",
     "samples 2 from 0\nprocess 1..5 until 2 peak 5\nn of process 234 at 1\n"
     "n of process 678 at 2\n",
     "mem {rss:B} {n:B}"},
    {"columns with commas", "1,234\n2,345\n",
     "samples 2 from 0\nprocess 234..345 until 2 peak 345\nsteps 1 2\n", "^{step},{rss:B}"},
    {"a step that goes on", "step 1,000 mem 5 B\n",
     "error: the number of {step}, 1, goes on behind a comma\n", "step {step}.*mem {rss}"},
    {"a step that is none", "epoch 0.25 mem 5 B\n",
     "error: the number of {step}, 0, goes on behind a point\n", "epoch {step}.*mem {rss}"},
    {"a percentage", "mem 50%\n",
     "error: the number of {rss}, 50, has '%' behind it, which is no unit\n", "mem {rss:KB}"},
    {"a speed", "mem 50 MB/s\n",
     "error: the number of {rss}, 50, has 'MB/s' behind it, which is no unit\n", "mem {rss:KB}"},
    {"sizes one by the other", "mem 5 KiB/7KiB\n", "(null) 0 from 0\nprocess unchanged peak 5120\n",
     "mem {rss}/{most}"},
    {"a unit in short behind a blank", "mem 5 G\n",
     "error: the number of {rss}, 5, has 'G' behind it, which is no unit\n", "mem {rss:MB}"},
    {"a unit behind more blanks, or a tab", "mem 5  MiB\nmem 6\tMiB\n",
     "samples 2 from 0\nprocess 5242880..6291456 until 2 peak 6291456\n", "mem {rss:KiB}"},
    {"a number that is cut", LONG_LINE "mem=7100\nmem=5\n",
     "(null) 0 from 0\nprocess unchanged peak 5242880\nnote units 1\n", "mem={rss:MB}"},
    {"a power", "mem 1e3\n", "error: the number of {rss}, 1, has 'e' behind it, which is no unit\n",
     "mem {rss:KB}"},
    {"a word behind a blank that is no unit", "mem 7 pages\n",
     "error: the number of {rss}, 7, has 'pages' behind it, which is no unit\n", "mem {rss}"},
    {"a word of the line that is no unit", "mem 512 b=3\nmem 600 b=3\n",
     "samples 2 from 0\nprocess 536870912..629145600 until 2 peak 629145600\nnote units 2\n",
     "mem {rss:MB}"},
    {"a unit that is none", TEXT, "error: --pattern: '{rss:pages}' is no field\n",
     "mem={rss:pages}"},
    {"no end of a field", TEXT, "error: --pattern: '{rss' is no field\n", "mem={rss"},
    {"dates with a zone", "2026-11-22 23:59:59,5 +0100 rss 5 B\n2026-11-22T23:00:01Z rss 7 B\n",
     "ns 1500000000 from 1795388399500000000\nprocess 5..7 until 1500000000 peak 7\n",
     "^{time} rss {rss}"},
    {"dates without a zone: nobody knows the epoch",
     "[2026-11-22 10:00:00] step 1 5 B\n[2026-11-22 10:00:00] step 2 6 B\n",
     "ns 0 from 0\nprocess 5..6 until 0 peak 6\nsteps 1 2\n", "^\\[{time}\\] step {step} {rss}"},
    {"times of day, over midnight", "23:59:58.25 5 B\n00:00:01 7 B\n00:00:02 x 3 B\n",
     "ns 3750000000 from 0\nprocess 5..3 until 3750000000 peak 7\n", "^{time} (x )?{rss}"},
    {"seconds of the epoch", "1763870000.25 5 B\n1763870001 7 B\n",
     "ns 750000000 from 1763870000250000000\nprocess 5..7 until 750000000 peak 7\n",
     "^{time} {rss}"},
    {"milliseconds", "1763870000250 5 B\n1763870001000 7 B\n",
     "ns 750000000 from 1763870000250000000\nprocess 5..7 until 750000000 peak 7\n",
     "^{time:ms} {rss}"},
    {"milliseconds taken for seconds", "1763870000250 5 B\n",
     "error: the time of {time}, 1763870000250, cannot be read\n", "^{time} {rss}"},
    {"seconds since it began", "t=3s 5 B\nt=4.5s 7 B\n",
     "ns 1500000000 from 0\nprocess 5..7 until 1500000000 peak 7\n", "^t={time}s {rss}"},
    {"a time that goes back", "3 5 B\n2 7 B\n4 6 B\n",
     "ns 1000000000 from 0\nprocess 5..6 until 1000000000 peak 7\nnote clock 1\n", "^{time} {rss}"},
    {"times of two kinds", "3 5 B\n10:00:00 7 B\n",
     "error: the time of {time}, 10:00:00, cannot be read, or is none like those before\n",
     "^{time} {rss}"},
    {"no time of day", "24:00:00 5 B\n", "error: the time of {time}, 24:00:00, cannot be read\n",
     "^{time} {rss}"},
    {"times alone", TEXT, "error: --pattern has no field\n", "{time}"},
    {"a time with a unit of sizes", TEXT, "error: --pattern: '{time:KB}' is no field\n",
     "{time:KB} {rss}"},
};

static void test_pattern(void **state)
{
    const struct pattern_file *p = *state;
    struct mt_buf out = {0};
    read_process_log(&out, &mt_reader_memory_text, p->text, strlen(p->text), p->pattern);
    assert_string_equal(out.s, p->want);
    mt_buf_free(&out);
}

int main(void)
{
    struct row_tests t = {.n = 0};
    ROWS_ADD(&t, test_pattern, patterns);
    return ROWS_RUN(&t, "--pattern");
}
