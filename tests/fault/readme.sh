#!/bin/sh
# What README shows is what comes: every "    $ memtool ..." is run, in order, in one folder, and its
# output compared with the lines below it up to a blank line that a further block does not follow.
# A command without lines below it has only to succeed.
set -u
root=$(dirname "$SAMPLES")
export MEMTOOL_CACHE="$PWD/cache"
ln -s "$SAMPLES" samples
mkdir bin && ln -s "$MEMTOOL" bin/memtool && PATH=$PWD/bin:$PATH
# The file N.cmd and, where output is shown, N.want for each command.
awk '
    function flush() { if (n && want != "") printf "%s", want >(n ".want") }
    /^    \$ memtool / { flush(); n++; want = held = ""; open = 1; print substr($0, 7) >(n ".cmd"); next }
    open && /^    [^$]/ { want = want held substr($0, 5) "\n"; held = ""; next }
    open && /^$/ { held = held "\n"; next }
    { open = 0 }
    END { flush() }' "$root/README.md"
fails=0 n=0
while n=$((n + 1)) && [ -f $n.cmd ]; do
    sh ./$n.cmd >$n.out 2>$n.err || { echo "FAIL exit $?: $(cat $n.cmd)"; cat $n.err; fails=$((fails + 1)); }
    [ -f $n.want ] || continue
    diff -u $n.want $n.out >$n.diff || { echo "FAIL $(cat $n.cmd)"; cat $n.diff; fails=$((fails + 1)); }
done
[ $n -gt 5 ] || { echo "FAIL only $n commands found"; fails=1; }
echo "$n commands, $fails wrong"
[ $fails = 0 ]
