#!/bin/sh
# `memtool record` of processes of which the system tells less, or whose number another one had before: other users' ones
# (a program that is run as its owner), /proc that hides them, PIDs that come again. Each where we may set that up.
set -u
here=$(cd "$(dirname "$0")" && pwd)
fail() {
    echo "FAIL $*"
    cat err
    exit 1
}
cc=${CC:-cc}
"$cc" -O1 -o phases "$here/../record/phases.c" 2>err || fail "the test program does not compile"
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
# shellcheck disable=SC2086 # several words
if [ "$(id -u)" != 0 ] || ! $nobody "$MEMTOOL" version >out 2>err; then
    echo "this is not root, or others cannot run the program: nothing was tried"
    exit 77
fi
folder=$(mktemp -d /tmp/memtool-users.XXXXXX) # where others come in
trap 'rm -rf "$folder"' EXIT
cp phases "$folder/phases" && cp phases "$folder/owned" && chmod 4755 "$folder/owned" && chmod 777 "$folder" && cd "$folder" || exit 1
: >err
export MEMTOOL_DB="$folder/t.db"
ask() { "$MEMTOOL" query --format csv "$1" 2>>err | tail -n +2; }
note() { ask "SELECT text FROM v_note WHERE run = '$1' AND kind NOT LIKE 'peak_%'"; }
peak() { ask "SELECT peak_b / 1048576 FROM v_device WHERE run = '$1' AND peak_b > 10000000 ORDER BY 1"; }

# What it shares cannot be read: it has its rss, and that is said.
if [ "$($nobody sh -c './owned wait 300 & sleep 0.1; cat /proc/$!/smaps_rollup' 2>/dev/null | grep -c Pss:)" = 0 ]; then
    $nobody "$MEMTOOL" record --name other -- ./owned malloc 20 wait 600 2>err || fail "exit $?"
    [ "$(peak other)" = 21 ] || fail "the program of another user has $(peak other) MiB"
    [ -z "$(note other)" ] || fail "of another user: $(note other)"
    grep -q "^memtool: pss and private were not recorded, or not of all: the system" err || fail "record does not say that shares cannot be read"
    "$MEMTOOL" info other --format csv | grep -q "^file.pss_unread,1$" || fail "nothing says that shares cannot be read"
    "$MEMTOOL" memory other --format csv >out 2>>err || fail "exit $?"
    if grep -q "pss\|private" out; then fail "what cannot be read has a figure"; fi
    "$MEMTOOL" check other --max-peak 100MiB >out 2>>err || fail "a peak that is known is not judged: $(cat out)"
    ./phases malloc 20 wait 3000 &
    pid=$!
    sleep 0.5
    $nobody "$MEMTOOL" record --name attached --pid $pid --for 400ms 2>err || fail "exit $?"
    [ "$(peak attached)" = 21 ] || fail "the process of another user has $(peak attached) MiB"
    "$MEMTOOL" info attached --format csv | grep -q "^file.pss_unread,1$" || fail "nothing says that shares of a process cannot be read"
    kill $pid
fi

# /proc that hides it.
hidden() { unshare --mount sh -c 'mount -t proc -o hidepid=2 proc /proc && exec "$@"' sh "$@"; }
# shellcheck disable=SC2086
if hidden $nobody test ! -e /proc/1 2>>err; then
    for i in 1 2 3 4 5; do # a child that is looked at before it becomes another user's is seen on
        hidden $nobody "$MEMTOOL" record --name "hidden$i" -- sh -c './owned malloc 20 wait 600; :' 2>err || fail "exit $?"
        hides=$(note "hidden$i" | grep "the system hides processes, 1 or more") && break
        [ "$(peak "hidden$i")" = 21 ] || fail "nothing tells of hidden processes: $(note "hidden$i")"
    done
    [ -n "$hides" ] || fail "no child was hidden"
    "$MEMTOOL" check "hidden$i" --max-peak 1GiB >out 2>>err
    [ $? = 3 ] || fail "a limit is kept though processes are hidden"
    hidden $nobody "$MEMTOOL" record --pid 1 >out 2>err
    grep -q "hides this process of another user" err || fail "a hidden process"
fi

# A container without the files of its control group: there is no figure of that, and nothing else is missing.
bare() { unshare --mount sh -c 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"' sh "$@"; }
if bare sh -c "! ls /sys/fs/cgroup | grep -q ." 2>>err; then
    bare "$MEMTOOL" record --name bare -- ./phases malloc 20 wait 400 2>err || fail "exit $?"
    [ "$(peak bare)" = 21 ] || fail "in a container without files it has $(peak bare) MiB"
    [ -z "$(note bare)" ] || fail "a container without files: $(note bare)"
    "$MEMTOOL" memory bare --format csv >out 2>>err || fail "exit $?"
    grep -q "^process,pss" out || fail "without files of the group other figures are missing"
    if grep -q cgroup out; then fail "there are no files, and a figure"; fi
fi

# A number that comes again is another process.
cat >again.py <<'END'
import os, subprocess, sys, time
def child(mib):
    p = subprocess.Popen(["./phases", "malloc", str(mib), "wait", "300"])
    p.wait()
    return p.pid
first = child(20)
with open("/proc/sys/kernel/ns_last_pid", "w") as f:
    f.write(str(first - 1))
open("again", "w").write("yes" if child(40) == first else "no")
END
again() { unshare --mount --pid --fork sh -c 'mount -t proc proc /proc && exec "$@"' sh "$@"; }
if again "$MEMTOOL" record --name again -- python3 again.py 2>err && [ "$(cat again)" = yes ]; then
    [ "$(ask "SELECT group_concat(peak_b / 1048576, ' ') FROM v_device WHERE run = 'again' AND device LIKE 'process:%' AND peak_b > 16000000")" = "21 41" ] ||
        fail "two processes of one number are $(ask "SELECT device, peak_b FROM v_device WHERE run = 'again'")"
    [ "$(ask "SELECT count(*) FROM v_device WHERE run = 'again' AND device LIKE 'process:%:2'")" = 1 ] || fail "the second has no name of its own"
fi
exit 0
