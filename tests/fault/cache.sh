#!/bin/sh
# The cache for files given as runs: what it may touch in its folder, what interrupted reports leave,
# when a file counts as changed, and what others do to it meanwhile.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
cache=$PWD/cache
export MEMTOOL_CACHE="$cache"
hash=0123456789abcdef0123456789abcdef
copies() { find cache -maxdepth 1 -regextype posix-extended -regex '.*/[0-9a-f]{32}\.db' | wc -l; }
cp "$SAMPLES/nested/trace.json.gz" a.gz
cp "$SAMPLES/basic/trace.json.gz" b.gz
"$MEMTOOL" import a.gz --db own.db >/dev/null 2>&1 || complain import

# A folder with files of others: reports, lists and --clear-cache leave all of them as they are, do
# not count them, and do not stop at them.
mkdir others
cp own.db others/.memtool.db
cp own.db others/trace.db
cp own.db "others/$(echo $hash | tr a-f A-F).db"
cp own.db "others/${hash}0.db"
cp own.db "others/$hash.db.bak"
for name in notes.db.txt old.dbf data.db.12.tmp "$hash.db.tmp" "$hash.db" "x$hash.db" "$hash.db.1.tmp.txt"; do
    echo mine >"others/$name"
done
sqlite="SQLite format 3"
printf '%s\0%084d' "$sqlite" 0 >"others/1$(echo $hash | cut -c2-).db"
mkdir others/sub.db "others/2$(echo $hash | cut -c2-).db"
ln -s ../own.db "others/3$(echo $hash | cut -c2-).db"
truncate -s 1200M others/mine1.db "others/4$(echo $hash | cut -c2-).db"
touch -h -d 2020-01-01 others/* others/.memtool.db
foreign() { (cd others && find . -printf '%y %s %TY %p\n' | grep -v '^d.*\.$' | grep -vxFf ../copied | sort); }
: >copied
foreign >before
(cd others && MEMTOOL_CACHE=. "$MEMTOOL" tree ../a.gz >/dev/null 2>../err) || complain "exit $? in a folder with files of others"
(cd others && MEMTOOL_CACHE=. "$MEMTOOL" tree ../b.gz >/dev/null 2>../err) || complain "the second time: exit $?"
(cd others && find . -type f -newermt 2021-01-01 -printf '%y %s %TY %p\n') >copied
[ "$(wc -l <copied)" = 2 ] || complain "not two copies: $(cat copied)"
foreign | diff before - || complain "a report changed files of others"
MEMTOOL_CACHE=others "$MEMTOOL" runs --cache --format csv | cut -d, -f1 | sed 's|.*/||' | sort >listed
printf 'a.gz\nb.gz\nsource\n' | diff - listed || complain "the list"
MEMTOOL_CACHE=others "$MEMTOOL" runs --clear-cache >out 2>&1 || complain "--clear-cache: exit $? $(cat out)"
grep -q '^deleted 2 cached copies, ' out || complain "--clear-cache says $(cat out)"
foreign | diff before - || complain "--clear-cache changed files of others"

# Pruning: only copies, the oldest first, never the one in use.
"$MEMTOOL" tree a.gz >/dev/null 2>&1
mv cache/*.db base
for n in 1 2 3; do
    big=cache/$(printf '%032d' $n).db
    cp base "$big"
    truncate -s 600M "$big"
    touch -d "2020-01-0$n" "$big"
done
"$MEMTOOL" tree a.gz >/dev/null 2>&1
[ "$(copies)" = 2 ] || complain "more than 1 GiB is kept: $(ls cache)"
[ -e "$big" ] || complain "the latest went first"
rm -r cache

# A command line may name the ranks of a large job: one does not push out another.
"$MEMTOOL" tree a.gz >/dev/null 2>&1
for n in $(seq 1 100); do cp base "cache/$(printf '%032d' "$n").db"; done
"$MEMTOOL" tree b.gz >/dev/null 2>&1
[ "$(copies)" -ge 101 ] || complain "of 100 copies $(copies) are left"
rm -r cache

# What a report leaves that was killed is listed, counted, and removed; Ctrl-C leaves nothing.
seq 1 60000 | awk 'BEGIN { printf "{\"traceEvents\":[" }
    { printf "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%d\",\"pid\":1,\"tid\":1,\"ts\":%d.5,\"dur\":0.2}", (NR > 1 ? "," : ""), $1 % 900, $1 }
    $1 % 900 == 7 { printf ",{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":%d.6,\"args\":{\"Bytes\":64,\"Addr\":%d}}", $1, 64 * $1 }
    END { print "]}" }' >long.json
for signal in INT TERM KILL; do
    for delay in 0.01 0.03 0.05 0.1 0.15 0.2 0.3 0.5; do
        timeout -s $signal $delay "$MEMTOOL" tree long.json >/dev/null 2>&1
        left=$(find cache -type f 2>/dev/null | grep -vcE '\.db$')
        [ $signal = KILL ] || [ "$left" = 0 ] || complain "$signal after $delay s leaves $(ls cache)"
        [ $signal = KILL ] || rm -rf cache
    done
done
for delay in $(seq 20 8 420); do # `timeout` sends it twice: the second must not cut the cleaning short
    timeout -s TERM "0.$(printf %03d "$delay")" "$MEMTOOL" tree long.json >/dev/null 2>&1
    find cache -type f 2>/dev/null | grep -q tmp && complain "TERM after $delay ms leaves $(ls cache)"
    rm -rf cache
done
mkdir -p cache && rm -f cache/*
chmod 700 cache
cp base "cache/$hash.db.4711.tmp"
cp base "cache/$hash.db.a1b2C3.tmp"
echo x >"cache/$hash.db.4711.tmp-journal"
echo x >"cache/$hash.db.4712.tmp-journal"
"$MEMTOOL" runs --cache --format csv | grep -c '^\[interrupted\],' >out
[ "$(cat out)" = 3 ] || complain "leftovers are not listed: $(cat out)"
"$MEMTOOL" runs --clear-cache >out
grep -q '^deleted 0 cached copies and what is left of 3 interrupted imports, ' out || complain "$(cat out)"
[ -z "$(ls cache)" ] || complain "still there: $(ls cache)"
cp base "cache/$hash.db.a1b2C3.tmp"
"$MEMTOOL" tree a.gz >/dev/null 2>&1
[ "$(find cache -type f | wc -l)" = 1 ] || complain "a report does not clear leftovers: $(ls cache)"

# A file is another one although its size and time are set back.
sed 's/"op7"/"oq7"/g' long.json >other.json
touch -d 2024-01-01 long.json other.json
cp -p long.json x.json
"$MEMTOOL" table ./x.json --name '^op7$' --format csv >out 2>&1
grep -q ',op7$' out || complain "no op7: $(cat out)"
cp -p other.json x.json
"$MEMTOOL" table ./x.json --name '^op7$' --format csv >out 2>&1
grep -q ',op7$' out && complain "a file overwritten by cp -p is shown as it was"
mv long.json x.json
"$MEMTOOL" table ./x.json --name '^op7$' --format csv >out 2>&1
grep -q ',op7$' out || complain "a file moved over another is shown as that was"

# Others remove copies all the time: every report is made all the same.
(while :; do rm -f cache/*.db; done) &
busy=$!
for i in $(seq 150); do
    "$MEMTOOL" tree a.gz >/dev/null 2>err || complain "report $i of 150: $(cat err)"
done
kill $busy
wait $busy 2>/dev/null

# Another memtool reads the file itself, which it may understand better; the same one again does not.
rm -f cache/*
cp "$MEMTOOL" other_memtool
touch -d 2020-01-01 other_memtool
for program in "$MEMTOOL" ./other_memtool "$MEMTOOL" ./other_memtool; do
    "$program" tree a.gz >out 2>&1 || complain "$program: $(cat out)"
done
[ "$(copies)" = 2 ] || complain "of two programs there are $(copies) copies"

# Files whose paths are alike for 300 bytes are two runs, with two names.
long=long/$(printf '%0150d/%0150d' 1 2)
mkdir -p "$long"
cp a.gz "$long/a.gz"
cp b.gz "$long/b.gz"
"$MEMTOOL" diff "$long/a.gz" "$long/b.gz" --format json >out 2>err || complain "long paths: $(cat err)"
python3 -c 'import json; names = [run["name"] for run in json.load(open("out"))["runs"]]
assert len(set(names)) == 2 and all(len(name) < 256 for name in names) and "/a.gz" in names[0] and "/b.gz" in names[1], names' 2>err ||
    complain "names of long paths: $(tail -n 1 err)"

# A copy that cannot be read is made anew; what is no copy is not overwritten.
rm -f cache/*
"$MEMTOOL" tree a.gz >want 2>&1
copy=$(ls cache/*.db)
truncate -s 8192 "$copy"
"$MEMTOOL" tree a.gz >out 2>&1 || complain "a damaged copy: $(cat out)"
cmp -s want out || complain "a damaged copy shows something else"
echo mine >"$copy"
"$MEMTOOL" tree a.gz >out 2>&1
{ [ $? = 2 ] && grep -q "not a memtool database" out; } || complain "a file of others under that name: $(cat out)"
[ "$(cat "$copy")" = mine ] || complain "it was overwritten"
complained ""
