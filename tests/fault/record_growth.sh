#!/bin/sh
# `memtool leaks` of recorded programs whose growth is known (tests/record/phases.c). They run side by side.
set -u
here=$(cd "$(dirname "$0")" && pwd)
fail() {
    echo "FAIL $*"
    cat err* out
    exit 1
}
cc=${CC:-cc}
"$cc" -O1 -o phases "$here/../record/phases.c" 2>err || fail "the test program does not compile"
export MEMTOOL_DB=t.db
record() { # NAME PHASES...
    name=$1
    shift
    "$MEMTOOL" record --name "$name" -- ./phases "$@" >"out.$name" 2>"err.$name" || fail "$name is exit $?"
}
"$MEMTOOL" record --name short -- ./phases leak 50 2>err || fail "exit $?"
record leak leak 600 &
record saw malloc 20 saw 600 &
record warm leak 180 wait 5000 &
record stairs stairs 15 &
PHASES_STEPS=1 record steps leak 100 &
tidies=
for i in $(seq 40); do tidies="$tidies step $i malloc 1 wait 30"; done
# shellcheck disable=SC2046,SC2086 # words
record tidies $tidies $(yes free | head -n 40) wait 300 &
record flat malloc 30 wait 5000 &
record jump malloc 20 wait 1500 malloc 10 wait 4500 &
record loads load 60 &
record maps map 60 &
# shellcheck disable=SC2046 # words
record import load 25 $(yes "malloc 2 wait 100" | head -n 40) &
record loaded load 25 wait 7000 &
record spikes malloc 20 wait 2000 spike 50 wait 2000 spike 50 wait 2000 &
record child child 20 wait 500 many 20 wait 4500 many 5 &
wait

# A field of the row of the command, or how many rows there are of a verdict.
field() { "$MEMTOOL" leaks "$1" --format csv --columns "device,$2" 2>>err | awk -F, 'NR == 2 { print $2 }'; }
rows() { # NAME VERDICT: after the first second, in which programs begin
    "$MEMTOOL" leaks "$1" --format csv --columns verdict,at_ns 2>>err | awk -F, -v v="$2" '$1 == v && $2 > 1e9' | wc -l
}
judged() { # NAME VERDICT EXIT
    "$MEMTOOL" leaks "$1" --fail >out 2>err
    status=$?
    [ "$(field "$1" verdict)" = "$2" ] || fail "$1 is '$(field "$1" verdict)', not '$2'"
    [ $status = "$3" ] || fail "$1: --fail is exit $status, not $3"
}
judged leak grows 1
judged stairs grows 1
judged steps grows 1
judged tidies grows 1
judged saw flat 0
judged warm flat 0
judged flat flat 0
judged jump flat 0
judged spikes flat 0
judged child flat 0
# A program that begins loads what it needs: that is no growth yet. What maps files and does nothing else grows by them.
judged loads "cannot tell" 3
judged import "cannot tell" 3
judged maps grows 1
judged loaded flat 0
judged short "too short to tell" 3

# What record says at its end is what leaks says.
said() { grep -q "^memtool: rss$2" "err.$1" || fail "record of $1 does not say '$2': $(cat "err.$1")"; }
said leak ' grows [0-9.]* [KM]iB a minute (95 %: '
said loads ' grew [0-9.]* [MG]iB to [0-9.]* [MG]iB a minute while the program loaded libraries or files, '
said steps ' grows 6[0-9.]* KiB a step (95 %: '
said flat ' is flat: +.* a minute at most$'
"$MEMTOOL" record --name none -- true 2>err.none
said none ' was recorded too briefly to tell whether it grows$'
"$MEMTOOL" record --name shell -- sh -c './phases leak 500; :' 2>err.shell
said shell ' of process:[0-9]* grows '

# What it comes to: 64 KiB each time, as often as the program came to that.
per_minute=$(field leak per_minute_b)
dur_ms=$("$MEMTOOL" query --format csv "SELECT dur_ns / 1000000 FROM run WHERE name = 'leak'" | tail -n 1)
want=$((600 * 65536 * 60000 / dur_ms))
if [ "$per_minute" -lt $((want * 8 / 10)) ] || [ "$per_minute" -gt $((want * 12 / 10)) ]; then
    fail "the leak is $per_minute B a minute, not about $want"
fi
if [ "$(field leak rate_least_b)" -gt "$per_minute" ] || [ "$(field leak rate_most_b)" -lt "$per_minute" ]; then
    fail "the interval does not have the rate in it"
fi
per_step=$(field steps per_step_b)
if [ "$per_step" -lt 60000 ] || [ "$per_step" -gt 72000 ]; then fail "64 KiB a step are $per_step B"; fi
"$MEMTOOL" leaks leak --fail --min 1GiB >out 2>err || fail "less than --min is a leak: exit $?"
[ "$(rows leak jump)" = 0 ] || fail "a steady leak jumps"
[ "$(rows leak spike)" = 0 ] || fail "a steady leak has spikes"
[ "$(rows flat jump)" = 0 ] || fail "what is flat jumps"
n=$(rows stairs jump)
if [ "$n" -lt 10 ] || [ "$n" -gt 14 ]; then fail "15 stairs are $n jumps"; fi
[ "$(rows jump jump)" = 1 ] || fail "one jump is $(rows jump jump)"
at=$("$MEMTOOL" leaks jump --format csv --columns verdict,at_ns,by_b 2>>err | sed -n 's/^jump,//p' | tail -n 1)
if [ "${at%,*}" -lt 1400000000 ] || [ "${at%,*}" -gt 2500000000 ]; then fail "the jump is at ${at%,*} ns"; fi
if [ "${at#*,}" -lt 10000000 ] || [ "${at#*,}" -gt 11500000 ]; then fail "the jump is by ${at#*,} B"; fi
[ "$(rows spikes spike)" -le 2 ] || fail "two spikes are $(rows spikes spike)"

# Several recordings, side by side: an answer is what all of them say.
"$MEMTOOL" leaks leak stairs tidies --fail >out 2>err
[ $? = 1 ] || fail "three that grow"
grep -q "^3 runs of processes · rss grows in all of them" out || fail "three that grow: the title"
"$MEMTOOL" leaks flat saw --fail >out 2>err || fail "two that are flat: exit $?"
grep -q "rss grows in none" out || fail "two that are flat: the title"
"$MEMTOOL" leaks leak flat --fail >out 2>err
[ $? = 3 ] || fail "two that do not agree"
grep -q "The runs do not agree" err || fail "it is not said that they do not agree"
"$MEMTOOL" leaks flat short --fail >out 2>err
[ $? = 3 ] || fail "one that cannot tell"
rows=$("$MEMTOOL" leaks leak flat short --format csv --columns run,verdict 2>>err | tail -n +2 | tr '\n' ' ')
[ "$rows" = "leak,grows flat,flat short,too short to tell " ] || fail "the rows are $rows"
"$MEMTOOL" leaks shell shell --fail >out 2>err
[ $? = 1 ] || fail "two of which a child grows"
grep -q "rss of a child grows in all of them" out || fail "two of which a child grows: the title"
[ "$(grep -c "process:[0-9]* *grows " out)" = 2 ] || fail "the children that grow are not listed"
"$MEMTOOL" leaks shell shell --device processes --fail >out 2>err
[ $? = 3 ] || fail "all processes together have no rss to be judged by"
grep -q "2 cannot tell" out || fail "all processes together: the title"
grep -q "have no rss" err || fail "it is not said why nobody can tell"
"$MEMTOOL" leaks shell --device processes --fail >out 2>err
[ $? = 3 ] || fail "all processes of one recording"
"$MEMTOOL" leaks short short --fail >out 2>err
[ $? = 3 ] || fail "two that are too short"
grep -q "Growth needs six samples" err || fail "it is not said why they are too short"

# Two of them: their peaks, and how they grow; by the minute where only one has steps.
differs() { # EXIT BASE NEW OPTION...
    want=$1
    shift
    "$MEMTOOL" diff "$@" >out 2>err
    status=$?
    [ $status = "$want" ] || fail "diff $* is exit $status, not $want"
}
differs 1 flat leak --exit-code --threshold 100MiB
grep -q "growth of rss got worse: leak grows" err || fail "it is not said that growth got worse"
grep -q "^leak  *[0-9.]* MiB  *grows [0-9.]* MiB a minute" out || fail "the table does not say how leak grows"
grep -q "^flat  *[0-9.]* MiB  *is flat: " out || fail "the table does not say that flat is flat"
if grep -q "unknown" out; then fail "what nobody knows of processes is listed"; fi
differs 0 leak flat --exit-code --threshold 100MiB
differs 3 leak leak --exit-code
differs 3 short leak --exit-code --threshold 100MiB
differs 0 steps leak
[ "$(grep -c "grows .* a minute" out)" = 2 ] || fail "rates are not by the same unit"

# A part of a recording: what grows does so, that nothing does is no answer.
"$MEMTOOL" record --name killed -- ./phases malloc 20 wait 8000 2>err &
recorder=$!
sleep 6
kill -KILL $recorder
wait $recorder 2>>err
judged killed flat 3
