#!/bin/sh
# What runs in several threads, with ThreadSanitizer: `sh tests/threads.sh build/tsan`
#
# An import decompresses in one thread, builds in a second and writes in a third; diff reads its two runs
# in two. Every sample is read,
# packed and plain; some cut short, so that the reader ends before the thread that decompresses for it.
# The last line is `N passed, N failed`.
set -u
cd "$(dirname "$0")/.." || exit 1
MEMTOOL=$PWD/$1/memtool
passed=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TSAN_OPTIONS=halt_on_error=1:exitcode=66 HOME="$work"
# Old runtimes do not know how far today's kernels move a program about.
fixed="setarch $(uname -m) -R"
$fixed true 2>/dev/null || fixed=

races() { # WANTED-EXIT ARGUMENT...: runs memtool on them
    wanted=$1
    shift
    # shellcheck disable=SC2086 # words
    $fixed "$MEMTOOL" "$@" >"$work/log" 2>&1 </dev/null
    status=$?
    if [ $status = "$wanted" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL  memtool $* (exit $status)"
        sed 's/^/    /' "$work/log"
    fi
}

for trace in samples/*/trace.json.gz; do
    races 0 import "$trace" --db "$work/t.db" --replace --name packed
    gzip -dc "$trace" >"$work/plain.json"
    races 0 import "$work/plain.json" --db "$work/plain.db" --replace --name plain
    head -c 20000 "$trace" >"$work/cut.json.gz"
    [ "$(wc -c <"$trace")" -le 20000 ] || races 2 import "$work/cut.json.gz" --db "$work/t.db"
done
for snapshot in samples/snapshots/*.pickle; do
    races 0 import "$snapshot" --db "$work/t.db"
done
# Files read side by side; most need more than their share and are read again, alone; all are there.
for options in "-j 4" "-j 3 --max-memory 3MiB --step-marker Step" "-j 4"; do
    # shellcheck disable=SC2086 # words
    races 0 import samples/*/trace.json.gz samples/ranks/*.gz $options --db "$work/many.db"
done
# Both runs of a comparison are read at once.
for by in site category path thread step; do
    races 0 diff samples/leak_steps/trace.json.gz samples/noleak_steps/trace.json.gz --by $by
    [ $by = category ] || races 0 diff samples/snapshots/basic.pickle samples/snapshots/oom.pickle --by $by
done
races 2 diff samples/leak_steps/trace.json.gz samples/basic/trace.json.gz --per-step
races 0 table samples/leak_steps/trace.json.gz
races 2 import samples/leak_steps/trace.json.gz --max-memory 100KiB --db "$work/new.db"
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -ge 30 ]
