#!/bin/sh
# What `memtool record` tells of a process beside its memory (tests/record/phases.c): threads, processor time; and, with
# --malloc, what of its memory is stacks.
set -u
here=$(cd "$(dirname "$0")" && pwd)
fail() {
    echo "FAIL $*"
    cat err out
    exit 1
}
cc=${CC:-cc}
"$cc" -O1 -o phases "$here/../record/phases.c" -pthread 2>err || fail "the test program does not compile"
export MEMTOOL_DB=t.db
echo >out
ask() { "$MEMTOOL" query --format csv "$1" 2>>err | tail -n +2; }
# A figure of the report's row METRIC of DEVICE, by the name of its column.
figure() { # COLUMN DEVICE METRIC OPTIONS...
    column=$1
    device=$2
    metric=$3
    shift 3
    "$MEMTOOL" memory "$@" --format csv 2>>err | awk -F, -v c="$column" -v d="$device" -v m="$metric" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["device"] == d && (m == "" || $at["metric"] == m) { print $at[c] }'
}
near() { # WHAT GOT WANT OFF
    if [ -z "$2" ] || [ "$2" -lt $(($3 - $4)) ] || [ "$2" -gt $(($3 + $4)) ]; then
        fail "$1 is '$2', not $3 within $4"
    fi
}
ms() { # NANOSECONDS
    [ -z "$1" ] || echo $(($1 / 1000000))
}

# One that computes for 600 ms, 200 of them in a window that it marks, and has 7 threads from the second mark on. It waits
# around marks and steps: a busy machine reads its time late.
"$MEMTOOL" record --name work -- ./phases burn 300 wait 300 mark 1 wait 300 burn 200 wait 300 mark 2 wait 300 threads 6 wait 400 burn 100 2>err || fail "exit $?"
total=$("$MEMTOOL" info work --format csv 2>>err | sed -n 's/^file.cpu_ms,//p')
near "processor time by the system" "$total" 610 60
near "processor time" "$(ms "$(figure cpu_ns process rss work)")" "$total" 2
near "that of a window" "$(ms "$(figure cpu_ns process rss work --from '@mark mark 1' --to '@mark mark 2')")" 200 25
near "that between two moments" "$(ms "$(figure cpu_ns process rss work --at '@mark mark 1' --at '@mark mark 2')")" 200 25
near "the same the other way round" "$(ms "$(figure cpu_ns process rss work --at '@mark mark 2' --at '@mark mark 1')")" 200 25
near "threads between two moments, the other way round" "$(figure threads_n process rss work --at @end --at 0s)" 7 0
near "that behind a mark" "$(ms "$(figure cpu_ns process rss work --from '@mark mark 2')")" 105 25
near "threads" "$(figure threads_n process rss work)" 7 0
near "threads before they are made" "$(figure threads_n process rss work --to '@mark mark 2')" 1 0
near "threads at the end" "$(figure threads_n process rss work --at @end)" 7 0

# Over time: as columns, as lines below the curve, and in the database.
sum() { # COLUMN HOW
    "$MEMTOOL" timeline work --format csv 2>>err | awk -F, -v c="$1" -v how="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { sum += $at[c]; most = $at[c] > most ? $at[c] : most }
        END { printf "%d\n", how == "sum" ? sum / 1000000 : most }'
}
near "processor time of all parts" "$(sum cpu_ns sum)" "$total" 2
near "the most threads of a part" "$(sum threads_n most)" 7 0
"$MEMTOOL" timeline work >out 2>>err || fail "exit $?"
grep -q "^      cpu  .*█" out || fail "no line of processor time"
grep -q "^  threads  .*█" out || fail "no line of threads"
grep -q "ms of processor time, up to [0-9]* % of a core; 7 threads at most" out || fail "nothing says what the lines are"
"$MEMTOOL" timeline work --format svg >work.svg 2>>err || fail "exit $?"
grep -q ">threads<" work.svg || fail "the picture has no threads"
near "the last of its samples" "$(ms "$(ask "SELECT max(value_b) FROM sample WHERE metric = 'cpu_ns'")")" "$total" 2
"$MEMTOOL" timeline work --metric cpu_ns >out 2>>err && fail "processor time is drawn as bytes"
"$MEMTOOL" export work -o work.perfetto.json 2>>err || fail "exit $?"
grep -q '"threads_n":7' work.perfetto.json || fail "Perfetto has no threads: $(grep -o 'threads_n[^}]*' work.perfetto.json | head -n 3)"
for report in "info work" "memory work" "peak work --at 300ms"; do
    # shellcheck disable=SC2086 # words
    "$MEMTOOL" $report --format csv >out 2>>err || fail "$report is exit $?"
    grep -E "(^|,)(cpu_ns|threads_n)," out | grep -vq "^device" && fail "$report has bytes that are none"
done

# What a process had taken when it was first seen counts, but was not all taken at that moment.
python3 -c 'import sqlite3
db = sqlite3.connect("t.db", isolation_level=None)
of = "metric = ? AND device_id = (SELECT d.id FROM device d JOIN run r ON r.id = run_id WHERE r.name = ? AND d.name = ?)"
db.execute(f"DELETE FROM sample WHERE time_ns < 250000000 AND {of}", ("cpu_ns", "work", "process"))' 2>>err || fail "the samples"
near "processor time of one seen late" "$(sum cpu_ns sum)" "$total" 2
"$MEMTOOL" timeline work >out 2>>err || fail "exit $?"
most=$(sed -n 's/.* of processor time, up to \([0-9]*\) % of a core.*/\1/p' out)
[ "$most" -le 200 ] || fail "one thread takes $most % of a core"

# Steps each have their own.
"$MEMTOOL" record --name steps -- ./phases step 1 wait 300 burn 50 wait 300 step 2 wait 300 burn 150 wait 300 step -1 2>err || fail "exit $?"
"$MEMTOOL" memory steps --per step --format csv >out 2>>err || fail "exit $?"
step() { awk -F, -v s="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $1 == s { print int($at["cpu_ns"] / 1000000) }' out; }
near "processor time of step 1" "$(step 1)" 50 25
near "processor time of step 2" "$(step 2)" 150 25

# Children each have their own, and all of them what they have together, be they still there or not.
"$MEMTOOL" record --name family -- sh -c './phases burn 300 threads 4 wait 2000 & ./phases burn 200 threads 2 wait 2000; wait' 2>err || fail "exit $?"
total=$("$MEMTOOL" info family --format csv 2>>err | sed -n 's/^file.cpu_ms,//p')
near "processor time of all" "$(ms "$(figure cpu_ns processes at_most family)")" "$total" 2
devices=$(ask "SELECT device FROM v_device WHERE run = 'family' AND device LIKE 'process:%'")
times=$(for d in $devices; do ms "$(figure cpu_ns "$d" rss family)"; done | sort -n | tail -n 2 | tr '\n' ' ')
near "processor time of a child" "${times%% *}" 210 40
near "that of another" "$(echo "$times" | cut -d' ' -f2)" 310 40
threads=$(for d in $devices; do figure threads_n "$d" rss family; done | sort -n | tail -n 2 | tr '\n' ' ')
[ "$threads" = "3 5 " ] || fail "the children have $threads threads"
near "threads of all" "$(figure threads_n processes at_most family)" 9 0

# The command and all together come before its children.
order=$("$MEMTOOL" memory family --format csv 2>>err | awk -F, 'NR > 1 && $1 != last { printf "%s ", last = $1 }')
case $order in
"process processes process:"*) ;;
*) fail "the devices come as $order" ;;
esac

# Of one that ran already: what it took before is not of the recording.
./phases burn 200 wait 4000 burn 150 wait 99000 &
target=$!
sleep 2
"$MEMTOOL" record --name later --pid $target --for 8s 2>err || fail "exit $?"
kill $target
wait $target 2>>err
near "processor time while it is recorded" "$(ms "$(figure cpu_ns process rss later)")" 150 60

# Stacks: 8 threads with 512 KiB each, and 4 MiB of the first; what the threads have of malloc is none of it.
"$MEMTOOL" record --malloc --name stacks -- ./phases threads 8 stack 4 wait 700 mark 1 wait 100 2>err || fail "exit $?"
stacks=$(figure current_b process stacks stacks)
near "stacks in KiB" "$((${stacks:-0} / 1024))" 8192 300
other=$(figure current_b process other_anon stacks)
[ "$other" -ge "$stacks" ] || fail "stacks are $stacks, more than what is neither malloc's nor files: $other"
near "malloc of the threads in KiB" "$(($(figure current_b process malloc_in_use stacks) / 1024))" 2048 400
"$MEMTOOL" memory stacks >out 2>>err || fail "exit $?"
grep -Eq "^rss of process at .* is .*: .* mapped files, .* of malloc in use, .* that malloc holds \(at most\), [78]\.[0-9]* MiB of stacks \(as read at .*\), and .* other: mappings" out ||
    fail "rss is not split"
# Threads that compute all the time have no place that is known: they are no stacks, and nothing breaks.
"$MEMTOOL" record --malloc --name busy -- ./phases stack 2 burn 400 2>err || fail "exit $?"
stacks=$(figure current_b process stacks busy)
near "the stack of one that computes, in KiB" "$((${stacks:-0} / 1024))" 2048 200
[ "$(ask "SELECT count(*) FROM sample s JOIN run r ON r.id = s.run_id WHERE r.name = 'work' AND metric = 'stacks'")" = 0 ] ||
    fail "stacks without --malloc"
exit 0
