#!/bin/sh
# A text file that begins with a byte order mark, or whose lines end as on Windows, is read as the
# same file without: the same format, the same figures.
set -u
fail() {
    echo "FAIL $*"
    exit 1
}
figures() { # FILE NAME
    "$MEMTOOL" import "$1" --db "$2.db" --name run >"$2.out" 2>&1 || fail "$1: $(cat "$2.out")"
    "$MEMTOOL" query --db "$2.db" --format csv \
        "SELECT format, peak_b, alloc_b, device.alloc_n, at_end_b
            FROM run JOIN device ON device.run_id = run.id"
}

for file in heap/dhat_2k.json heap/events.csv heap/events.jsonl heap/lsan.txt heap/massif_200k.out heap/memcheck.xml \
    heap/retain.heapprofile python/memray_peak.csv python/memray_peak.gprof2dot \
    python/memray_stats.json process/docker_stats.txt process/pidstat.txt process/prometheus.json process/psrecord.txt; do
    { printf '\357\273\277' && cat "$SAMPLES/$file"; } >marked
    plain=$(figures "$SAMPLES/$file" plain)
    [ -n "$plain" ] || fail "$file: no figures"
    [ "$(figures marked marked)" = "$plain" ] || fail "$file: other figures: $plain"
    rm -f ./*.db
done

for file in heap/lsan.txt heap/massif_200k.out process/docker_stats.txt process/mprofile.dat process/pidstat.txt \
    process/printed.log process/psrecord.txt process/seed_style.log process/smaps_rollup.txt process/time_v.txt; do
    sed 's/$/\r/' "$SAMPLES/$file" >ended
    plain=$(figures "$SAMPLES/$file" plain)
    [ -n "$plain" ] || fail "$file: no figures"
    [ "$(figures ended ended)" = "$plain" ] || fail "$file: other figures with carriage returns: $plain"
    rm -f ./*.db
done

# Files of a user's own.
"$MEMTOOL" import "$SAMPLES/heap/heaptrack.zst" --db t.db --name heap >/dev/null 2>&1 || fail "import"
printf '\357\273\277leak:retain\n' >leaks.supp
"$MEMTOOL" leaks heap --db t.db --suppressions leaks.supp >/dev/null || fail "suppressions"
echo ok
