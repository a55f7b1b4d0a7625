#!/bin/sh
# Logs of hundreds of containers: what a report takes grows with the log, not with its square. The
# limits are seconds of the processor, and ten times what a build with sanitizers takes.
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
within 2 5600 info many
within 2 2800 memory many
within 1 700 leaks many --all --limit 0
within 4 700 report many -o -

complained "$seen reports" && [ $seen = 5 ]
