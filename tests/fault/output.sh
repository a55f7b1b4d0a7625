#!/bin/sh
# What -o FILE does to files that are there: an older output stays until the new one is whole, and
# nothing that the command reads, or SQLite keeps beside it, is written over.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
memtool() { "$MEMTOOL" "$@" >out 2>err; }
export MEMTOOL_CACHE="$PWD/cache"
cp "$SAMPLES/nested/trace.json.gz" in.json.gz
memtool import in.json.gz --db t.db --name x --group g || complain import
cp "$SAMPLES/heap/heaptrack.zst" heap.zst
memtool import heap.zst --db t.db --name heap || complain import
echo leak:main >own.supp
memtool export --baseline x --db t.db -o base.json || complain export
echo "SELECT name FROM run" >names.sql
echo '{"schema":"memtool.rules","version":1,"rules":[{"max-peak":"1GiB"}]}' >rules.json
memtool check x --db t.db --rules rules.json || complain "check: $(cat err)"
# Names that SQLite takes for something else than a file are names of files.
for name in :memory: file:uri.db 'file:m?mode=memory' 'file:t.db?nolock=1' file:///tmp/none.db/t.db; do
    case $name in
    *///*) # a folder that is not there
        memtool import in.json.gz --db "$name" && complain "$name is made"
        continue
        ;;
    esac
    memtool import in.json.gz --db "$name" --name x || complain "import --db $name: $(cat err)"
    [ -s "$name" ] || complain "$name is no file: $(ls)"
    memtool table x --db "$name" || complain "table --db $name: $(cat err)"
done
[ -e uri.db ] && complain "file:uri.db made uri.db"
ln t.db hard.db
ln -s t.db soft.db
memtool table ./in.json.gz || complain "a file"
rm out err
cp -r . ../kept

# What is read is not written over, by whatever name.
while read -r line; do
    # shellcheck disable=SC2086
    memtool $line
    status=$?
    { [ $status = 2 ] && grep -q 'this is the input' err && grep -q 'Nothing was written' err; } || complain "memtool $line: exit $status $(cat err)"
done <<LIST
table x --db t.db -o t.db --format csv
table x --db t.db -o ./t.db --format csv
table x --db t.db -o hard.db --format csv
table x --db hard.db -o soft.db --format csv
table x --db file:uri.db -o file:uri.db --format csv
table x --db file:uri.db -o ./file:uri.db-journal
table x --db :memory: -o ./:memory:
table x --db t.db -o t.db-journal
table x --db t.db -o t.db-wal
table x --db t.db -o t.db-shm
timeline x --db t.db -o t.db --format svg
query runs --db t.db -o t.db --format csv
query names.sql --db t.db -o names.sql
table ./in.json.gz -o in.json.gz --format csv
table ./in.json.gz -o $(ls cache/*.db) --format csv
diff x ./in.json.gz --db t.db -o in.json.gz --format csv
diff x ./in.json.gz --db t.db -o t.db --format csv
leaks x ./in.json.gz --db t.db -o in.json.gz --format csv
export --baseline x ./in.json.gz --db t.db -o in.json.gz
check x --db t.db --baseline base.json --max-peak 1GiB -o base.json
check x --db t.db --rules rules.json -o rules.json
check x --db t.db --baseline base.json --max-peak 1GiB -o t.db --format junit
table x --db t.db -o in.json.gz --format csv
export x --db t.db --format pprof -o in.json.gz
ranks g --db t.db -o in.json.gz --format json
check --group g --db t.db --max-peak 1GiB -o in.json.gz --format junit
leaks heap --db t.db --suppressions own.supp -o own.supp
LIST
# Nor is a database that the command does not read, whatever is written.
while read -r line; do
    # shellcheck disable=SC2086
    memtool $line
    status=$?
    { [ $status = 2 ] && grep -q 'this is a database of memtool' err && grep -q 'Nothing was written' err; } || complain "memtool $line: exit $status $(cat err)"
done <<LIST
table ./in.json.gz -o t.db --format csv
table x --db t.db -o :memory: --format csv
table ./in.json.gz --db t.db -o soft.db --format csv
schema --db t.db -o t.db
skill -o soft.db
completion bash -o t.db
help table -o hard.db
LIST
# Nor is what is asked for by a name that no format has.
memtool table x --db t.db -o t.db
[ $? = 2 ] || complain "a table in a file called .db"
# shellcheck disable=SC2094 # that is the test
"$MEMTOOL" query - --db t.db -o names.sql <names.sql >out 2>err && complain "standard input is written over"
rm -f out err
diff -r . ../kept || complain "something was changed"

# A whole output takes the place of an older one, with its mode; links stay.
echo old >old.txt
chmod 640 old.txt
ln -s old.txt link.txt
memtool table x --db t.db -o link.txt || complain "through a link: $(cat err)"
{ [ -L link.txt ] && grep -q aten old.txt; } || complain "the link or its file: $(ls -l)"
[ "$(stat -c %a old.txt)" = 640 ] || complain "the mode is $(stat -c %a old.txt)"
ln -s new.txt nowhere.txt
memtool table x --db t.db -o nowhere.txt || complain "a link to nowhere: $(cat err)"
{ [ -L nowhere.txt ] && [ -s new.txt ]; } || complain "a link to nowhere: $(ls -l)"
(umask 027 && memtool table x --db t.db -o masked.txt)
[ "$(stat -c %a masked.txt)" = 640 ] || complain "umask: $(stat -c %a masked.txt)"
long=$(printf '%0255d' 0)
memtool table x --db t.db -o "$long" || complain "a long name: $(cat err)"

# What is no regular file is written to as it is.
mkfifo pipe
cat pipe >piped &
memtool table x --db t.db -o pipe || complain "a pipe"
wait $!
{ [ -p pipe ] && grep -q aten piped; } || complain "the pipe: $(ls -l pipe)"
memtool table x --db t.db -o /dev/stdout || complain "/dev/stdout"
grep -q aten out || complain "nothing in /dev/stdout"
memtool table x --db t.db -o /dev/null || complain "/dev/null"
[ -c /dev/null ] || complain "/dev/null is gone"

# A failure keeps the older output and leaves nothing beside it.
echo old >old.txt
kept() { # WHAT
    [ "$(cat old.txt)" = old ] || complain "$1: the older output is gone"
    [ -z "$(find . -name '.memtool-*')" ] || complain "$1: left $(find . -name '.memtool-*')"
}
numbers="WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 400000) SELECT"
memtool query --db t.db "$numbers i, abs(CASE i WHEN 300000 THEN -9223372036854775807 - 1 ELSE i END) FROM c" \
    --format csv -o old.txt
[ $? = 2 ] || complain "an error in the middle is no failure"
grep -q 'Nothing was changed' err || complain "an error in the middle: $(cat err)"
kept "an error in the middle"
(ulimit -f 100; memtool query --db t.db "$numbers i FROM c" --format csv -o old.txt)
[ $? = 2 ] || complain "a limit on file sizes is no failure"
grep -q 'Nothing was changed' err || complain "a limit on file sizes: $(cat err)"
grep -q 'File too large' err || complain "a limit on file sizes is not said: $(cat err)"
kept "a limit on file sizes"
timeout -s INT 1 "$MEMTOOL" query --db t.db "$numbers a.i FROM c AS a, c AS b" --format csv -o old.txt >out 2>err
kept Ctrl-C
timeout -s TERM 1 "$MEMTOOL" query --db t.db "$numbers a.i FROM c AS a, c AS b" --format csv -o old.txt >out 2>err
kept SIGTERM
if unshare -m true 2>/dev/null; then
    mkdir disk
    # shellcheck disable=SC2016 # the inner shell's
    unshare -m sh -c 'mount -t tmpfs -o size=64k none disk && echo old >disk/old.txt &&
        "$MEMTOOL" query --db t.db "$1 i FROM c" --format csv -o disk/old.txt; cat disk/*; ls -A disk' - "$numbers" >out 2>err
    grep -q 'No space left' err || complain "a full disk: $(cat err)"
    [ "$(cat out)" = "old
old.txt" ] || complain "a full disk: $(head out)"
fi
# A quota that is used up, where strace can say so in the kernel's place.
used_up() {
    strace -qq -o trace -P "$PWD/quota.txt" -e trace=write,fallocate -e inject=write:error=EDQUOT:when=1 \
        -e inject=fallocate:error=EDQUOT "$@" >quota.txt 2>err
}
if used_up true; then
    ASAN_OPTIONS=detect_leaks=0 used_up "$MEMTOOL" report x --db t.db
    [ $? = 2 ] || complain "a quota is no failure"
    grep -q 'Disk quota exceeded' err || complain "a quota is not said: $(cat err)"
fi
complained ""
