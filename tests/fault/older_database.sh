#!/bin/sh
# Databases of older memtools (tests/schema): up to schema 6 their runs are imported again from their
# files, or nothing is changed and it is said why; from 7 on they are upgraded in place, and runs that
# lack something are imported again when somebody looks at them.
set -u
fail() {
    echo "FAIL $*"
    cat err
    exit 1
}
schema="$SAMPLES/../tests/schema"
fresh() { # VERSION: the database as it was made, beside the files of its runs
    chmod -R u+w . && rm -rf ./* ./.[!.]*
    gzip -dc "$schema/$1.db.gz" >old.db || exit 1
    cp old.db before.db
    cp "$SAMPLES/basic/trace.json.gz" basic.json.gz
    cp "$SAMPLES/nested/trace.json.gz" nested.json.gz
}
same() {
    cmp -s old.db before.db || fail "$*: the database has changed"
    for file in old.db.*; do
        [ ! -e "$file" ] || [ "$file" = old.db.new ] || fail "$*: left behind: $file"
    done
}
refused() { # WORD ARGUMENT...
    word=$1
    shift
    "$MEMTOOL" "$@" --db old.db >out 2>err
    status=$?
    [ $status = 2 ] || fail "memtool $*: exit $status"
    grep -q -- "$word" err || fail "memtool $*: no word of '$word'"
    same "memtool $*"
}

# A report imports all runs again and says so; what the user has said of them stays.
fresh 6
"$MEMTOOL" runs --db old.db --format csv >out 2>err || fail "runs of an older database"
[ "$(grep -c . err)" = 1 ] || fail "not one line is said"
grep -q 'old.db has schema version 6.*importing its 2 runs again' err || fail "it is not said"
grep -q '^1,my,"g, h",.*,2026-11-22T14:00:29Z,basic.json.gz$' out || fail "the run is another one: $(cat out)"
"$MEMTOOL" import nested.json.gz --db new.db --group h --base cpu=3MiB --step-marker 'outer|inner base' >out 2>err || fail "import"
"$MEMTOOL" import basic.json.gz --db new.db --name my >out 2>err || fail "import"
while read -r report; do
    eval "\"$MEMTOOL\" $report --db old.db --format csv" >old.out 2>err || fail "$report"
    [ ! -s err ] || fail "$report says something the second time"
    eval "\"$MEMTOOL\" $report --db new.db --format csv" >new.out 2>err || fail "$report"
    cmp -s old.out new.out || fail "$report differs from that of a new import"
done <<'REPORTS'
table my
table nested --by step
peak my
peak nested
query "SELECT content_hash, step_marker FROM run ORDER BY name"
REPORTS
"$MEMTOOL" query --db old.db --format csv 'SELECT g.name, r.name FROM run_group g JOIN run r ON r.id = run_id ORDER BY joined' >out 2>err
[ "$(tail -n +2 out | tr '\n' ' ')" = 'g,my h,nested h,my ' ] || fail "other groups, or in another order: $(cat out)"

# Version 5 knew one group; a command that writes, from elsewhere.
fresh 5
mkdir elsewhere
(cd elsewhere && "$MEMTOOL" import ../nested.json.gz --db ../old.db >out 2>../err) || fail "import into an older database"
"$MEMTOOL" runs --db old.db --format csv >out 2>err || fail "runs"
[ "$(cut -d, -f2,3 out | tail -n +2 | tr '\n' ' ')" = 'my,g nested, ' ] || fail "other runs: $(cat out)"

# Of two files of that name it is the one that the run came from, wherever memtool is started.
fresh 6
mkdir elsewhere
cp "$SAMPLES/nested/trace.json.gz" elsewhere/basic.json.gz
(cd elsewhere && "$MEMTOOL" runs --db ../old.db >../out 2>../err) || fail "another file of that name is here"
fresh 6
mkdir elsewhere
mv basic.json.gz elsewhere/
cp nested.json.gz basic.json.gz
(cd elsewhere && "$MEMTOOL" runs --db ../old.db >../out 2>../err) || fail "another file of that name is there"

# Many groups: who joins last is found at once.
"$MEMTOOL" query --db old.db --format csv 'EXPLAIN QUERY PLAN SELECT max(joined) FROM run_group' >out 2>err || fail "a plan"
grep -q 'USING.*INDEX' out || fail "all groups are read for each run that joins: $(cat out)"

# From version 7 on no file is needed.
fresh 7
rm basic.json.gz nested.json.gz
"$MEMTOOL" import "$SAMPLES/basic/trace.json.gz" "$SAMPLES/heap/heaptrack.zst" --db new.db >out 2>err || fail "import"
for report in table tree peak leaks memory; do
    "$MEMTOOL" $report heap --db old.db --format csv >old.out 2>err || fail "$report of version 7"
    [ ! -s err ] || fail "$report of version 7 says something"
    "$MEMTOOL" $report heaptrack --db new.db --format csv >new.out 2>err || fail "$report"
    cmp -s old.out new.out || fail "$report of version 7 differs from that of a new import"
done
"$MEMTOOL" query --db old.db --format csv 'SELECT r.name, r.imported_at, g.name, resolution_ns FROM run r LEFT JOIN run_group g ON r.id = run_id' >out 2>err
[ "$(tail -n +2 out | tr '\n' ' ')" = 'my,2026-11-22T14:08:04Z,g, heap,2026-11-22T14:08:04Z,,1000000 ' ] || fail "other runs: $(cat out)"

# Version 8 did not say which further figures a device knows.
fresh 8
"$MEMTOOL" import "$SAMPLES/basic/trace.json.gz" "$SAMPLES/heap/heaptrack.zst" "$SAMPLES/python/memray_1.20.bin" --db new.db >out 2>err || fail "import"
"$MEMTOOL" info my --db old.db >out 2>err || fail "info of version 8"
for report in 'table heap --columns self_alloc_b,temporary_most_n,name' 'table memray --columns self_alloc_b,temporary_n,temporary_b,name' \
    'peak heap' 'leaks memray' 'table my'; do
    name=$(echo "$report" | sed 's/ heap/ heaptrack/; s/ memray/ memray_1.20/; s/ my/ basic/')
    eval "\"$MEMTOOL\" $report --db old.db --format csv" >old.out 2>err || fail "$report of version 8"
    [ ! -s err ] || fail "$report of version 8 says something: $(cat err)"
    eval "\"$MEMTOOL\" $name --db new.db --format csv" >new.out 2>err || fail "$name"
    cmp -s old.out new.out || fail "$report of version 8 differs from that of a new import"
done

# What later versions read of a recording comes with importing it again, by itself, the first time
# that somebody looks at the run: categories since 10, tensors since 11, categories of snapshots
# since 13. A database of 13 may have been one of 9 before.
again="was imported by an older memtool: importing .*basic.json.gz again"
rows() { # what users know of runs
    "$MEMTOOL" query --db old.db --format csv 'SELECT r.id, r.name, source, imported_at, g.name, joined FROM run r LEFT JOIN run_group g ON r.id = run_id ORDER BY 1'
}
for version in 7 8 9 10 13_of_9; do
    fresh $version
    run=$("$MEMTOOL" query --db old.db --format csv "SELECT name FROM run WHERE source = 'basic.json.gz'" | tail -n 1)
    for name in $("$MEMTOOL" query --db old.db --format csv 'SELECT name FROM run ORDER BY id DESC' | tail -n +2); do
        "$MEMTOOL" runs "$name" --set-group jobs --db old.db >out 2>err || fail "a group"
    done
    rows >before.csv
    [ "$(tail -n +2 before.csv | grep -c jobs)" = "$("$MEMTOOL" runs --db old.db --format csv | tail -n +2 | cut -d, -f1 | sort -u | wc -l)" ] || fail "groups: $(cat before.csv)"
    "$MEMTOOL" peak "$run" --db old.db >old.out 2>err || fail "peak of version $version"
    [ "$(grep -c "^note: Run '$run' $again" err)" = 1 ] || fail "version $version, importing again is not said: $(cat err)"
    for by in category tensor; do
        "$MEMTOOL" peak "$run" --db old.db --by $by --format csv >old.out 2>err || fail "$by of version $version: $(cat err)"
        [ ! -s err ] || fail "version $version, the second time: $(cat err)"
        "$MEMTOOL" peak basic.json.gz --by $by --format csv >new.out 2>err
        cmp -s old.out new.out || fail "$by of version $version differ from those of a new import"
    done
    rows >after.csv
    cmp -s before.csv after.csv || fail "version $version, other runs: $(cat after.csv)"
done

# Several runs of one report; each is imported again while the report reads of those before.
fresh 9
"$MEMTOOL" diff basic nested --db old.db --format csv >old.out 2>err || fail "diff of version 9: $(cat err)"
[ "$(grep -c 'older memtool' err)" = 2 ] || fail "two runs are not imported again: $(cat err)"
"$MEMTOOL" diff basic.json.gz nested.json.gz --format csv >new.out 2>err
cmp -s old.out new.out || fail "diff of version 9 differs"

# Two reports at once.
fresh 9
for n in 1 2 3; do
    "$MEMTOOL" peak basic --by category --db old.db --format csv >out.$n 2>err.$n &
done
wait
"$MEMTOOL" peak basic.json.gz --by category --format csv >new.out 2>err
for n in 1 2 3; do
    cmp -s out.$n new.out || fail "one of three at once: $(cat err.$n)"
done

# Otherwise a run stays as it was, and a report that needs more says what gets it.
stays() { # ARGUMENTS of peak: fails without importing again
    "$MEMTOOL" peak --db old.db basic >out 2>err || fail "$stays: peak"
    "$MEMTOOL" peak --db old.db basic "$@" >out 2>err
    status=$?
    [ $status = 2 ] || fail "$stays: peak $*: exit $status"
    [ "$("$MEMTOOL" query --db old.db --format csv "SELECT count(*) FROM v_alloc WHERE run = 'basic'" | tail -n 1)" = 7 ] || fail "$stays: the run is lost"
}
stays="its file is gone"
fresh 9
rm basic.json.gz
stays --by category
grep -q 'basic.json.gz is not there any more: .memtool import --replace FILE. imports it again' err || fail "$stays: $(cat err)"
stays --by tensor
grep -q 'basic.json.gz is not there any more: .memtool import --replace FILE. imports it again' err || fail "$stays: $(cat err)"
cp "$SAMPLES/basic/trace.json.gz" moved.json.gz
"$MEMTOOL" import --replace moved.json.gz --db old.db >out 2>err || fail "$stays: $(cat err)"
"$MEMTOOL" peak basic --by category --db old.db >out 2>err || fail "$stays: imported again: $(cat err)"

stays="its file has other content"
fresh 9
cp nested.json.gz basic.json.gz
"$MEMTOOL" peak --db old.db basic >out 2>err || fail "$stays: peak"
grep -q "Run 'basic' stays as it was: basic.json.gz has other content by now" err || fail "$stays: $(cat err)"
stays --by category
grep -q 'import --replace FILE' err || fail "$stays: $(cat err)"
if grep -q 'again\.' err; then fail "$stays, and it is read each time: $(cat err)"; fi

stays="its file is damaged"
fresh 9
head -c 300 basic.json.gz >short.json.gz && mv short.json.gz basic.json.gz
stays --by category
fresh 9
mkdir elsewhere
mv basic.json.gz elsewhere
(cd elsewhere && cp ../nested.json.gz basic.json.gz && "$MEMTOOL" peak basic --db ../old.db >../out 2>../err) || fail "another file of that name"
cp "$SAMPLES/basic/trace.json.gz" basic.json.gz
"$MEMTOOL" peak --db old.db basic --by category >out 2>err || fail "another file of that name was elsewhere: $(cat err)"

stays="it came through a pipe"
fresh 9
python3 -c 'import sqlite3
db = sqlite3.connect("old.db", isolation_level=None)
db.execute("UPDATE run SET source = ?", ("-",))'
stays --by category
grep -q 'memtool import --replace -`' err || fail "$stays: $(cat err)"
"$MEMTOOL" import --replace - --db old.db <basic.json.gz >out 2>err || fail "$stays: $(cat err)"
"$MEMTOOL" peak basic --by category --db old.db >out 2>err || fail "$stays: imported again: $(cat err)"

# Version 11 did not know who asked for what failed; its other figures are as they were.
fresh 11
"$MEMTOOL" peak basic --db old.db --by tensor --format csv >old.out 2>err || fail "peak of version 11: $(cat err)"
"$MEMTOOL" peak basic.json.gz --by tensor --format csv >new.out 2>err
cmp -s old.out new.out || fail "version 11 differs from a new import"
"$MEMTOOL" import "$SAMPLES/snapshots/oom.pickle" --db old.db >out 2>err || fail "import into version 11: $(cat err)"
"$MEMTOOL" oom oom --db old.db 2>err | grep -q 'asked for by' || fail "who asked, in a database of version 11"

# Version 12 had no categories of snapshots; its view of blocks is renewed, and a trace's are as they were.
fresh 12
cp "$SAMPLES/snapshots/basic.pickle" snap.pickle
"$MEMTOOL" peak basic --db old.db --by category --format csv >old.out 2>err || fail "peak of version 12: $(cat err)"
"$MEMTOOL" peak basic.json.gz --by category --format csv >new.out 2>err
cmp -s old.out new.out || fail "version 12 differs from a new import"
"$MEMTOOL" peak snap --db old.db --by category --format csv >old.out 2>err || fail "categories of a snapshot: $(cat err)"
grep -q "snap.pickle again" err || fail "a snapshot of version 12 is not imported again: $(cat err)"
"$MEMTOOL" peak snap.pickle --by category --format csv >new.out 2>err
cmp -s old.out new.out || fail "categories of a snapshot of version 12 differ"
"$MEMTOOL" query --db old.db "SELECT DISTINCT why FROM v_alloc WHERE run = 'snap'" 2>err | grep -q F9 || fail "the rules of a snapshot"

# Version 13 took what was allocated in a snapshot without history for 0; trees of others are as they were.
fresh 13_state
"$MEMTOOL" query --db old.db --format csv "SELECT run, alloc_b, freed_b, net_b, alloc_n, at_end_b FROM v_device" >out 2>err || fail "version 13: $(cat err)"
[ "$(tail -n 1 out)" = 'state,,,,,4197304' ] || fail "a snapshot without history, of version 13: $(cat out)"
"$MEMTOOL" import "$SAMPLES/basic/trace.json.gz" "$SAMPLES/snapshots/state_only.pickle" --db new.db >out 2>err || fail "import"
for report in 'tree state --depth 1' 'table state --columns self_at_end_b,at_end_b,site --by site' 'table basic'; do
    eval "\"$MEMTOOL\" $report --db old.db --format csv" | grep -v 'before trace' >old.out 2>err || fail "$report of version 13"
    eval "\"$MEMTOOL\" $(echo "$report" | sed 's/ state/ state_only/') --db new.db --format csv" >new.out 2>err || fail "$report"
    cmp -s old.out new.out || fail "$report of version 13 differs from that of a new import"
done
alike() { # VERSION LINES: reports of both databases, one a line of standard input, are the same and have more lines
    while read -r report; do
        for db in old new; do
            eval "\"$MEMTOOL\" $report --db $db.db --format csv" >$db.out 2>err || fail "$report of the $db one: $(cat err)"
            [ "$(wc -l <$db.out)" -gt "$2" ] || fail "$report of the $db one has no rows"
        done
        cmp -s old.out new.out || fail "$report of version $1 differs from that of a new import"
    done
}
# Version 13 had a row of figures for every call path, and names of further figures in each row.
fresh 13
"$MEMTOOL" import "$SAMPLES/basic/trace.json.gz" "$SAMPLES/heap/heaptrack.zst" --db new.db >out 2>err || fail "import"
alike 13 4 <<'REPORTS'
table heaptrack --limit 0 --columns self_alloc_b,alloc_b,temporary_most_n,name
tree heaptrack
tree basic
query "SELECT * FROM v_node ORDER BY run, id"
query "SELECT * FROM v_node_extra ORDER BY run, node_id"
REPORTS
"$MEMTOOL" runs --delete heaptrack --db new.db >out 2>err || fail "runs --delete: $(cat err)"
"$MEMTOOL" query --db new.db "SELECT count(*) FROM string WHERE text = 'temporary_most_n'" --format csv >out 2>err
[ "$(tail -n 1 out)" = 0 ] || fail "the name of a figure that no run has is left"
# Version 14 had a row for every change of what a call path holds.
fresh 14
"$MEMTOOL" import "$SAMPLES/basic/trace.json.gz" "$SAMPLES/heap/heaptrack.zst" --db new.db >out 2>err || fail "import"
alike 14 1 <<'REPORTS'
leaks heaptrack
peak heaptrack --at 500ms
timeline heaptrack
query "SELECT run, node_id, name, step, change_b, change_n, time_ns FROM v_holding ORDER BY run, node_id, time_ns"
REPORTS
"$MEMTOOL" table heaptrack --by size --db old.db >out 2>err && fail "sizes that version 14 did not have"
grep -q 'import --split size' err || fail "sizes that version 14 did not have: $(cat err)"
# Version 15 had a row for every further figure of a call path, bytes of all changes, and figures with what is below
# also where nothing is. In writer_late a site loses frees, whose sizes are held apart.
fresh 15
"$MEMTOOL" import "$SAMPLES/heap/heaptrack.zst" "$SAMPLES/../tests/loops/writer_late.json.gz" --db new.db >out 2>err || fail "import"
alike 15 1 <<'REPORTS'
table heaptrack --limit 0 --columns self_alloc_b,alloc_b,temporary_most_n,name
tree writer_late
leaks heaptrack --all
leaks writer_late --all
query "SELECT * FROM v_node ORDER BY run, id"
query "SELECT * FROM v_node_extra ORDER BY run, node_id"
query "SELECT * FROM v_holding WHERE run = 'writer_late' AND size_b = 12288"
query "SELECT run, node_id, name, step, change_b, change_n, time_ns FROM v_holding ORDER BY run, node_id, time_ns"
REPORTS

# Version 16 did not name the rule of buckets; and a database of this version is read as it is: its schema stays, for
# others have such databases. A change of it, be it of a view alone, is the next version (lib/db/db_upgrade.h).
now=$("$MEMTOOL" version | sed 's/.*schema //')
for version in 16 "$now"; do
    [ -f "$schema/$version.db.gz" ] || fail "tests/schema/$version.db.gz is missing: a database that this version made"
    fresh "$version"
    "$MEMTOOL" import "$SAMPLES/basic/trace.json.gz" --db new.db >out 2>err || fail "import"
    alike "$version" 1 <<'REPORTS'
table basic --by category
peak basic --by why
query "SELECT * FROM v_alloc ORDER BY id"
REPORTS
    [ "$version" = "$now" ] || continue
    cmp -s old.db before.db || fail "a database of version $now is changed by reading it"
done

# Changes of what a call path held that are none: such rows hold up nothing.
fresh 15
python3 -c 'import sqlite3
db = sqlite3.connect("old.db")
rows = enumerate(("[]", "{}", "5", "none"), 10000)
db.executemany("INSERT INTO holding (device_id, node_id, size_b, changes) VALUES (1, ?, 0, ?)", rows)
db.commit()'
"$MEMTOOL" runs --db old.db >out 2>err || fail "a damaged row of version 15"

# A write-ahead log of a program that was killed would be played into the new database.
wal() { # STATEMENT: what the log holds
    python3 -c 'import os, sqlite3, sys
db = sqlite3.connect("old.db", isolation_level=None)
db.execute("PRAGMA journal_mode=wal")
db.execute("PRAGMA wal_autocheckpoint=0")
db.execute(sys.argv[1])
os._exit(0)' "$1"
    [ -s old.db-wal ] || fail "there is no write-ahead log"
}
alone() {
    [ -z "$(ls old.db?* 2>/dev/null)" ] || fail "$*: there is $(ls old.db?*)"
}
fresh 6
wal "UPDATE run SET name = 'other' WHERE name = 'my'"
"$MEMTOOL" runs --db old.db --format csv >out 2>err || fail "a write-ahead log"
alone "a write-ahead log"
"$MEMTOOL" runs --db old.db --format csv >again 2>err || fail "a write-ahead log, the second time"
cmp -s out again || fail "the second time there are other runs"
[ "$(cut -d, -f2 out | tail -n +2 | tr '\n' ' ')" = 'other nested ' ] || fail "other runs: $(cat out)"

# The log may know of another version than the file does.
fresh 6
wal 'PRAGMA user_version = 99'
"$MEMTOOL" runs --db old.db >out 2>err
[ $? = 2 ] || fail "a newer version in the log"
grep -q 'schema version 99' err || fail "a newer version in the log is not said"

# Where the files are gone, nothing of the log is lost.
fresh 5
wal "UPDATE run SET name = 'other' WHERE name = 'my'"
rm basic.json.gz
"$MEMTOOL" runs --db old.db >out 2>err
[ $? = 2 ] || fail "files are gone"
[ "$(python3 -c 'import sqlite3; print(*[r[0] for r in sqlite3.connect("old.db").execute("SELECT name FROM run ORDER BY id")])')" = \
    'other' ] || fail "what was in the log is lost"

# Who has it open keeps it as it is.
fresh 6
wal "UPDATE run SET name = 'other' WHERE name = 'my'"
cp old.db before.db
mkfifo held over
python3 -c 'import sqlite3
db = sqlite3.connect("old.db")
db.execute("SELECT * FROM run").fetchall()
open("held", "w").close()
open("over").read()
print(*[r[0] for r in db.execute("SELECT name FROM run ORDER BY id")])' >reader &
cat held
"$MEMTOOL" runs --db old.db >out 2>err
[ $? = 2 ] || fail "a reader has it open"
grep -q 'has been using it' err || fail "nothing is said of who has it open"
: >over
wait $! || fail "the reader"
[ "$(cat reader)" = 'other nested' ] || fail "the reader sees $(cat reader)"
"$MEMTOOL" runs --db old.db >out 2>err || fail "the reader is gone"
alone "the reader is gone"

# A journal that is kept though it holds nothing goes with the old one.
fresh 6
python3 -c 'import sqlite3
db = sqlite3.connect("old.db", isolation_level=None)
db.execute("PRAGMA journal_mode=persist")
db.execute("PRAGMA user_version = 6")'
[ -e old.db-journal ] || fail "there is no journal"
"$MEMTOOL" runs --db old.db >out 2>err || fail "a journal that is kept"
alone "a journal that is kept"

# Views of the user's stay, on whatever they are; one that cannot be read stands in no way.
fresh 7
python3 -c 'import sqlite3
db = sqlite3.connect("old.db", isolation_level=None)
db.execute("CREATE VIEW mine AS SELECT run, peak_b FROM v_device")
db.execute("CREATE VIEW other AS SELECT figure_id FROM node_extra")
db.execute("CREATE VIEW broken AS SELECT no_column FROM node_extra")
db.execute("CREATE VIEW lost AS SELECT * FROM nowhere")
db.execute("CREATE TRIGGER hook AFTER INSERT ON run BEGIN SELECT * FROM v_device; END")'
"$MEMTOOL" runs --db old.db >out 2>err || fail "views of the user's"
[ "$("$MEMTOOL" query --db old.db --format csv 'SELECT (SELECT count(peak_b) FROM mine) > 0, (SELECT count(*) FROM other)' | tail -n 1)" = '1,4' ] || fail "other views"
"$MEMTOOL" query --db old.db --format csv "SELECT sql FROM sqlite_master WHERE name IN ('mine', 'other', 'broken', 'lost', 'hook') ORDER BY 1" >out 2>err
[ "$(grep -c 'FROM \(v_device\|node_extra\|nowhere\)' out)" = 5 ] || fail "views are changed: $(cat out)"

# A series is of several files, of which the first is known by name.
fresh 6
python3 -c 'import sqlite3
db = sqlite3.connect("old.db", isolation_level=None)
hash = db.execute("SELECT substr(content_hash, 1, 32) FROM run WHERE name = ?", ("my",)).fetchone()[0]
db.execute("UPDATE run SET content_hash = ? WHERE name = ?", (hash + " split thread series 3", "my"))'
cp old.db before.db
refused "not known by name: 'my' (basic.json.gz and others: import --series)" table
grep -q 'Import the dumps of each series again, with --series' err || fail "nothing is said of a series: $(cat err)"

# Files that are gone, or are others: nothing is changed, and the others can be imported as it says.
fresh 6
rm basic.json.gz
refused "of 1 of its 2 runs are gone: 'my' (basic.json.gz)" table
grep '^  memtool import' err | sed "s|memtool|\"$MEMTOOL\"|" >out
sh out >status 2>&1 || fail "the command that it says: $(cat out)"
[ "$("$MEMTOOL" query --db old.db.new --format csv 'SELECT name, content_hash FROM run' | tail -n +2 | cut -d' ' -f2-)" = \
    "step-marker outer|inner base base cpu=3145728" ] || fail "the command that it says makes another run"
rm old.db.new
cp "$SAMPLES/nested/trace.json.gz" basic.json.gz
refused "is not what the run 'my' was imported from" table
grep -q 'as it was' err || fail "nothing is said of the database"
rm basic.json.gz && mkfifo basic.json.gz
refused 'are gone' import nested.json.gz
rm basic.json.gz nested.json.gz
refused "'my' (basic.json.gz), 'nested' (nested.json.gz)" runs --delete my

# Completion changes nothing.
fresh 6
MEMTOOL_DB=old.db "$MEMTOOL" completion bash -- memtool table m >out 2>err
same completion

# What cannot be written (root can write anything).
if [ "$(id -u)" != 0 ]; then
    chmod 444 old.db
    refused 'may not be changed' table
fi

# Interrupted, it is the old one or the new one; nothing is left beside it.
for delay in 0.005 0.01 0.02 0.04; do
    fresh 6
    timeout --preserve-status -s INT $delay "$MEMTOOL" runs --db old.db >out 2>err
    status=$?
    [ $status = 130 ] || [ $status = 0 ] || fail "Ctrl-C after $delay s is exit $status"
    [ $status = 0 ] || cmp -s old.db before.db || "$MEMTOOL" runs --db old.db >out 2>err || fail "after $delay s it is damaged"
    [ -z "$(ls old.db.* 2>/dev/null)" ] || fail "after $delay s there is $(ls old.db.*)"
done

# Two at once: one waits for the other.
fresh 6
"$MEMTOOL" runs --db old.db >first 2>first.err &
"$MEMTOOL" runs --db old.db >second 2>err || fail "the second of two"
wait $! || fail "the first of two: $(cat first.err)"
cmp -s first second || fail "two at once see different runs"
echo ok
