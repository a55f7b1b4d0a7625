#!/bin/sh
# Logs of many processes, threads and mappings: what a report takes grows with the log, not with its square.
# The limits are seconds of the processor, and ten times what a build with sanitizers takes.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
seen=0

awk 'BEGIN {
    n = split("working_set_bytes usage_bytes rss cache", metric, " ")
    for (t = 0; t < 20; t++)
        for (c = 0; c < 700; c++)
            for (m = 1; m <= n; m++)
                printf "container_memory_%s{namespace=\"a\",pod=\"p%d\",container=\"c\"} %d %d\n",
                    metric[m], c, (100 + c + t) * 1000 * m, 1767225600000 + t * 1000
}' >many.txt

within() { # SECONDS ROWS ARGUMENT...: it ends by itself in time, and says that much
    seconds=$1 rows=$2
    shift 2
    # shellcheck disable=SC3045 # dash and bash have it
    (ulimit -t "$seconds" && exec "$MEMTOOL" "$@" --db t.db) >out.txt 2>err.txt
    [ $? -le 1 ] || complain "$*: $(tail -n 1 err.txt), or more than $seconds s"
    [ "$(wc -l <out.txt)" -ge "$rows" ] || complain "$*: $(wc -l <out.txt) lines"
    seen=$((seen + 1))
}

within 10 1 import many.txt --name many
[ "$(wc -l <out.txt)" -lt 50 ] || complain "import lists $(wc -l <out.txt) processes"
grep -q ' more, none with a larger peak: memtool memory many$' out.txt || complain "import does not say how many more there are"
within 2 5600 info many
within 2 2800 memory many
within 1 700 leaks many --all --limit 0
within 4 700 report many -o -

# Every process reports its leaks three times; every thread moves a block.
awk 'BEGIN {
    for (i = 0; i < 60000; i++)
        printf "==%d==ERROR: LeakSanitizer: detected memory leaks\n\n" \
            "Direct leak of 3 byte(s) in 1 object(s) allocated from:\n" \
            "    #0 0x5501 in leaf /app/a.c:5:3\n\n" \
            "SUMMARY: AddressSanitizer: 3 byte(s) leaked in 1 allocation(s).\n", i % 20000 + 12
}' >lsan.txt
awk 'BEGIN {
    n = 50000
    for (i = 0; i < n; i++)
        printf "%d app->malloc(64) = 0x%x\n", i + 100, (i + 1) * 4096
    for (i = 0; i < n; i++)
        printf "%d app->realloc(0x%x, 128 <unfinished ...>\n", i + 100, (i + 1) * 4096
    for (i = 0; i < n; i++)
        printf "%d <... realloc resumed> ) = 0x%x\n", i + 100, ((i * 7919 + 13) % n + 1) * 4096
}' >ltrace.txt
# Children of a process, which are announced, come and go.
awk 'BEGIN {
    map = "mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x10000000"
    print "1 " map
    for (i = 2; i < 40002; i++)
        printf "1 fork() = %d\n%d %s\n%d +++ exited with 0 +++\n", i, i, map, i
    print "1 exit_group(0) = ?"
}' >strace.txt
# With strace -qqq only parents are told.
awk -v map='mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x10000' 'BEGIN {
    print "1 " map
    for (i = 2; i < 40002; i++)
        printf "1 fork() = %d\n%d %s\n1 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=%d} ---\n",
            i, i, map, i
    print "1 exit_group(0) = ?"
}' >told.txt
# Parts of what is reserved are used and given back, then all of it, again and again.
awk 'BEGIN {
    print "mmap(NULL, 268435456, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x10000000"
    for (i = 0; i < 30000; i++)
        printf "mprotect(0x%x, 4096, PROT_READ) = 0\n", 268435456 + i * 7919 % 32768 * 8192
    for (i = 0; i < 3000; i++)
        printf "mprotect(0x10000000, 268435456, %s) = 0\n", i % 2 ? "PROT_READ" : "PROT_NONE"
}' >protected.txt
says() { # SECONDS TEXT FILE: its import ends in time, and says that
    within "$1" 1 import "$3" --name "$3"
    grep -q "$2" out.txt || complain "$3: $(cat out.txt)"
}
says 8 '20,000 blocks alive at the end' lsan.txt
says 4 '100,000 allocations, 50,000 frees' ltrace.txt
says 4 '31,500 allocations, 31,499 frees' protected.txt
says 4 '40,001 allocations, 40,000 frees' strace.txt
says 4 '40,001 allocations, 40,000 frees' told.txt

# A baseline has each process.
awk 'BEGIN {
    for (t = 0; t < 3; t++) {
        printf "\n23:42:%02d UID PID minflt/s majflt/s VSZ RSS %%MEM Command\n", t
        for (p = 0; p < 4000; p++)
            printf "23:42:%02d 0 %d 1.00 0.00 %d %d 0.01 app%d\n", t, p + 10, 9000 + p, 5000 + p, p
    }
}' >pidstat.txt
says 2 '4,000 processes' pidstat.txt
within 2 1 check pidstat.txt --baseline pidstat.txt --max-peak-growth 1%

complained "$seen reports" && [ $seen = 12 ]
