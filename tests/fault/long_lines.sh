#!/bin/sh
# A log whose megabytes are one line, of figures, of owners, of calls, or of what redraws a line of the terminal:
# it takes seconds of the processor, not minutes, and every figure is read.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
seconds=15 # of the processor: ten times what a build with sanitizers takes

line() { # WORDS, %d and \r as printf has them; N times in one line
    printf 'step 1: RSS: 5 MB\nstep 2: RSS: 8 MB\n'
    awk -v w="$1" -v n="$2" 'BEGIN { for (i = 1; i <= n; i++) printf w, i }' </dev/null
    printf '\nstep 3: RSS: 7 MB\n'
}

seen=0
reads() { # PEAK WORDS N
    line "$2" "$3" >long.log
    rm -f t.db
    # shellcheck disable=SC3045 # dash and bash have it
    if (ulimit -t "$seconds" && exec "$MEMTOOL" import long.log --db t.db) >out.txt 2>err.txt; then
        "$MEMTOOL" peak @latest --db t.db --format csv >peak.csv 2>err.txt
        grep -q "^$1,rss" peak.csv || complain "'$2': $(head -n 2 peak.csv err.txt)"
    else
        complain "'$2': exit $? $(head -c 300 err.txt)"
    fi
    seen=$((seen + 1))
}

reads 8388608 'mem%d alloc: 5 MB, ' 150000
reads 8388608 'a%d rss: 5 MB, ' 150000
reads 8388608 'rank %d: used 5 MB, ' 150000
reads 9437184 'RSS: 9 MB %d\r' 600000
reads 8388608 'worker 3 done %d ' 150000
reads 8388608 'rank 8 %d ' 150000
# Calls in a line that a program printed, and that ends as one does: what could end them is looked for once.
calls() { # FIRST-LINE WORDS [END]
    awk -v first="$1" -v w="$2" -v end="${3- = 0x12}" 'BEGIN {
        print first
        printf "said "
        for (i = 0; i < 200000; i++)
            printf w
        print end
        print first
    }' >long.log
    rm -f t.db
    # shellcheck disable=SC3045
    (ulimit -t "$seconds" && exec "$MEMTOOL" import long.log --db t.db) >out.txt 2>err.txt ||
        complain "'$2': exit $? $(head -c 300 err.txt)"
    seen=$((seen + 1))
}
calls 'app->malloc(10) = 0x5555' 'malloc(1) '
calls 'app->malloc(10) = 0x5555' 'x(malloc(1) '
calls 'app->malloc(10) = 0x5555' 'a(1 '
calls 'app->malloc(10) = 0x5555' '(((((((((('
calls 'app->malloc(10) = 0x5555' 'x operator new('
calls 'app->malloc(10) = 0x5555' 'printed(s) ' 'app->malloc(10) = 0x5555'
calls 'mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000000000' 'mmap(NULL x '
[ $seen = 13 ] || complain "only $seen lines"
complained "$seen lines"
