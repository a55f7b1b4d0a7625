#!/bin/sh
# `memtool record` of commands that the out-of-memory killer ends: in a control group of our own, where we may make one.
set -u
here=$(cd "$(dirname "$0")" && pwd)
fail() {
    echo "FAIL $*"
    cat err
    exit 1
}
cc=${CC:-cc}
"$cc" -O1 -o phases "$here/../record/phases.c" 2>err || fail "the test program does not compile"
export MEMTOOL_DB=t.db
"$MEMTOOL" record --name alone -- ./phases malloc 10 kill 9 2>err
[ $? = 137 ] || fail "a command that kills itself"
if "$MEMTOOL" info alone --format csv | grep -q "control group"; then fail "the out-of-memory killer is blamed"; fi

group=/sys/fs/cgroup/memory/memtool-test-$$
if ! mkdir "$group" 2>err || ! echo 60M >"$group/memory.limit_in_bytes" 2>err; then
    echo "no control group can be made here: the rest was left out"
    exit 0
fi
trap 'rmdir "$group"' EXIT
echo 60M >"$group/memory.memsw.limit_in_bytes" 2>err
in_group() {
    (echo 0 >"$group/cgroup.procs" && exec "$@")
}
in_group "$MEMTOOL" record --name oom -- ./phases malloc 20 wait 100 malloc 20 wait 100 malloc 40 wait 100 2>err
[ $? = 137 ] || fail "the command was not killed"
grep -q "out-of-memory killer killed it" err || fail "the summary does not tell who killed it"
"$MEMTOOL" info oom --format csv | grep "^file.cause," | grep -q "limit 60 MiB" || fail "the run does not tell who killed it"
"$MEMTOOL" info oom --format csv | grep -q "^file.cgroup_max_b,62914560" || fail "the limit is not in the run"
"$MEMTOOL" info oom --format csv | grep -q "^file.pid,[0-9]*$" || fail "the PID is not in the run"
has=$("$MEMTOOL" memory oom --format csv 2>>err | awk -F, '$2 == "cgroup" { print int($4 / 1048576) }')
if [ -z "$has" ] || [ "$has" -lt 18 ] || [ "$has" -gt 60 ]; then fail "the control group has $has MiB"; fi
# on a busy machine the kernel may take another one of the group, too, before the first has given back its memory
for try in 1 2 3; do
    in_group "$MEMTOOL" record --name "child-$try" -- sh -c './phases malloc 20 wait 100 malloc 60; exit 3' 2>err
    code=$?
    [ "$code" = 137 ] || break
done
[ "$code" = 3 ] || fail "the exit code is $code"
grep -q "killed a process beside it or a child" err || fail "the summary does not tell of the child"
"$MEMTOOL" record --name moved -- sh -c "./phases wait 100; echo 0 >$group/cgroup.procs; ./phases wait 800" 2>err || fail "exit $?"
grep -q "^memtool: [12] process[es]* ran in another control group: cgroup is without" err || fail "record does not tell of the other group"
"$MEMTOOL" info moved --format csv | grep -q "^file.cgroup_left_n,[12]" || fail "processes in another group are not noted"
exit 0
