#!/bin/sh
# What the documentation shows is what comes: of each file below every "    $ memtool ..." is run, in order, in
# a folder of its own, and its output compared with the lines below it up to a blank line that a further block
# does not follow. A command without lines below it has only to succeed.
set -u
root=$(dirname "$SAMPLES")
mkdir bin && ln -s "$MEMTOOL" bin/memtool && PATH=$PWD/bin:$PATH
fails=0

look_at() { # FILE COMMANDS-AT-LEAST
    mkdir "$(basename "$1")" && cd "$(basename "$1")" || exit 1
    export MEMTOOL_CACHE="$PWD/cache"
    ln -s "$SAMPLES" samples
    # The file N.cmd and, where output is shown, N.want for each command.
    awk '
        function flush() { if (n && want != "") printf "%s", want >(n ".want") }
        /^    \$ memtool / { flush(); n++; want = held = ""; open = 1; print substr($0, 7) >(n ".cmd"); next }
        open && /^    [^$]/ { want = want held substr($0, 5) "\n"; held = ""; next }
        open && /^$/ { held = held "\n"; next }
        { open = 0 }
        END { flush() }' "$root/$1"
    n=0
    while n=$((n + 1)) && [ -f $n.cmd ]; do
        sh ./$n.cmd >$n.out 2>$n.err || { echo "FAIL $1: exit $?: $(cat $n.cmd)"; cat $n.err; fails=$((fails + 1)); }
        [ -f $n.want ] || continue
        diff -u $n.want $n.out >$n.diff || { echo "FAIL $1: $(cat $n.cmd)"; cat $n.diff; fails=$((fails + 1)); }
    done
    [ $n -gt "$2" ] || { echo "FAIL $1: only $n commands found"; fails=$((fails + 1)); }
    echo "$1: $((n - 1)) commands"
    cd ..
}

look_at README.md 20
look_at docs/index.md 15
look_at docs/sql.md 20
look_at docs/skill/memtool/SKILL.md 10
echo "$fails wrong"
[ $fails = 0 ]
