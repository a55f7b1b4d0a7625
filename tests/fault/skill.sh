#!/bin/sh
# `memtool skill`: a skill's form and size, and five questions an agent is asked: the figures that the answer must
# have, and what it must not claim. Its commands are run by readme.sh.
set -u
root=$(dirname "$SAMPLES")
fails=0
fail() {
    echo "FAIL $*"
    fails=$((fails + 1))
}
"$MEMTOOL" skill >printed 2>err || fail "exit $?"
cmp -s printed "$root/docs/skill/memtool/SKILL.md" || fail "it is not the file"
"$MEMTOOL" skill -o SKILL.md 2>err || fail "-o SKILL.md: exit $?"
cmp -s printed SKILL.md || fail "-o SKILL.md is not the file"
[ "$(head -n 1 printed)" = --- ] || fail "no front matter"
[ "$(sed -n 2p printed)" = "name: memtool" ] || fail "no name"
[ "$(wc -l <printed)" -le 150 ] || fail "$(wc -l <printed) lines are more than 150"
# What it says to ask exists.
asked=$(grep -o 'memtool [a-z][a-z]*' printed | sort -u | cut -d' ' -f2 | grep -v cannot)
for command in $asked; do
    "$MEMTOOL" help "$command" >/dev/null 2>&1 || fail "there is no command '$command'"
done
[ "$(echo "$asked" | wc -w)" -ge 15 ] || fail "few commands: $asked"

answers() { # EXIT MUST MUST-NOT COMMAND...
    want=$1 must=$2 never=$3
    shift 3
    "$MEMTOOL" "$@" >out 2>err
    status=$?
    cat err >>out
    [ $status = "$want" ] || fail "memtool $*: exit $status, not $want"
    grep -q -- "$must" out || fail "memtool $*: no '$must'"
    ! grep -q -- "$never" out || fail "memtool $*: it says '$never'"
}
export MEMTOOL_DB="$PWD/t.db"
import() { "$MEMTOOL" import "$@" >/dev/null 2>err || fail "import $*"; }
import "$SAMPLES/noleak_steps/trace.json.gz" --name clean
import "$SAMPLES/no_checkpoint/trace.json.gz" --name plain
import "$SAMPLES/process/before_after.dat" --name loading --group job
import "$SAMPLES/process/before_after.json.gz" --name tensors --group job
# Does it leak? No: nothing may be called a leak.
answers 0 'no leak' '^ .*  leak  ' leaks clean --fail
# Does one without steps leak? Nobody can say.
answers 3 'Without steps nothing can be called a leak' 'no leak' leaks plain --fail
# Why did it run out of memory? 48 MiB were asked for, and nothing would have made room.
answers 0 'asked_for,50331648' ',yes,' oom "$SAMPLES/snapshots/oom.pickle" --format csv
# Why is RSS larger than what PyTorch has? What the rest is was not recorded: it is not 0.
answers 0 'process,rest,,' 'rest,0' memory loading --format csv
# What held memory at the peak? Sites that add up to it.
answers 0 '6.589 MiB' 'leak' peak plain
"$MEMTOOL" peak plain --format csv 2>/dev/null | awk -F, 'NR > 1 { sum += $1 } END { exit sum != 6908552 }' || fail "what was alive at the peak does not add up to it"
echo "$fails wrong"
[ $fails = 0 ]
