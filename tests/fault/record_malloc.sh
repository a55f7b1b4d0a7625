#!/bin/sh
# `memtool record --malloc`: what malloc has in programs, and of what they grow (tests/record/held.c); whatever cannot
# be counted is said, and no program comes to harm.
set -u
here=$(cd "$(dirname "$0")" && pwd)
fail() {
    echo "FAIL $*"
    cat err* out
    exit 1
}
cc=${CC:-cc}
for program in held phases stress; do
    "$cc" -O1 -o $program "$here/../record/$program.c" -pthread 2>err || fail "$program does not compile"
done
export MEMTOOL_DB=t.db
record() { # NAME COMMAND...
    name=$1
    shift
    "$MEMTOOL" record --malloc --name "$name" -- "$@" >"out.$name" 2>"err.$name" || fail "$name is exit $?"
}
ask() { "$MEMTOOL" query --format csv "$1" 2>>err | tail -n +2; }
samples="(SELECT r.name AS run, d.name AS device, s.* FROM sample s JOIN run r ON r.id = s.run_id JOIN device d ON d.id = s.device_id)"
most() { ask "SELECT max(value_b) FROM $samples WHERE run = '$1' AND metric = '$2' AND device LIKE '${3:-process}'"; }
echo >err
echo >out
record climb ./held 170 &
(MALLOC_TRIM_THRESHOLD_=131072 record trim ./held 170) &
record leak ./held 170 leak &
record map ./held 170 map &
wait

# Of what it grows.
judged() { # NAME VERDICT EXIT
    "$MEMTOOL" leaks "$1" --fail >out 2>err
    status=$?
    verdict=$("$MEMTOOL" leaks "$1" --format csv --columns verdict 2>>err | sed -n 2p)
    [ "$verdict" = "$2" ] || fail "$1 is '$verdict', not '$2'"
    [ $status = "$3" ] || fail "$1: --fail is exit $status, not $3"
}
judged climb "held by the allocator" 1
judged trim flat 0
judged leak "grows (malloc in use)" 1
judged map "grows outside malloc" 1

# How much: 170 times 64 KiB; a block of 31 MiB that was mapped. What is held and what is in use are no more than there is.
used=$("$MEMTOOL" memory leak --format csv 2>>err | awk -F, '$2 == "malloc_in_use" { print $3 }')
if [ "$used" -lt 10900000 ] || [ "$used" -gt 11400000 ]; then fail "170 times 64 KiB are $used B in use"; fi
[ "$(most climb malloc_held)" -gt 15000000 ] || fail "held are $(most climb malloc_held) B"
above=$(ask "SELECT count(*) FROM sample h JOIN sample a USING (run_id, device_id, time_ns)
    WHERE h.metric = 'malloc_held' AND a.metric = 'anon' AND h.value_b > a.value_b")
[ "$above" = 0 ] || fail "more is held than there is"
[ "$(ask "SELECT count(*) FROM v_note WHERE kind = 'no_malloc'")" = 0 ] || fail "what was counted has a note"

# Children, and what they become; what is killed.
record family sh -c './held 20 leak & ./held 25 leak; wait; exec ./held 30 leak'
n=$(ask "SELECT count(DISTINCT device) FROM $samples WHERE run = 'family' AND metric = 'malloc_in_use' AND value_b > 1000000")
[ "$n" = 3 ] || fail "of three programs $n were counted"
("$MEMTOOL" record --malloc --name killed -- ./phases wait 300 kill 9 >out 2>err)
[ $? = 137 ] || fail "a command that is killed is no exit 137"
[ "$(most killed malloc_in_use)" -gt 0 ] || fail "of a command that was killed nothing was counted"
record many ./phases many 700 wait 300 child 3 wait 300
[ "$(most many malloc_in_use 'process:%')" -gt 0 ] || fail "after many children none is counted"

# Threads and forks at the same time: nobody waits for ever, and nothing breaks.
for i in 1 2 3; do
    timeout 60 "$MEMTOOL" record --malloc --interval 1 --name "stress$i" -- ./stress 1500 >out 2>err || fail "stress is exit $?"
done

# Output, input and exit code are the program's.
[ "$(echo hello | "$MEMTOOL" record --malloc -- cat 2>err)" = hello ] || fail "the command has no input"
("$MEMTOOL" record --malloc -- ./phases exit 7 >out 2>err)
[ $? = 7 ] || fail "exit 7 is another"

# What cannot be counted is said, with the reason.
why() { ask "SELECT text FROM v_note WHERE run = '$1' AND kind = 'no_malloc'"; }
cat >other.c <<'END'
#include <stddef.h>
static _Alignas(16) char heap[1 << 28];
static size_t used;
void *malloc(size_t n) { void *p = heap + used; used += (n + 31) & ~(size_t)15; return used < sizeof heap ? p : NULL; }
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t size) { return malloc(n * size); }
void *realloc(void *p, size_t n) { char *to = malloc(n), *from = p; for (size_t i = 0; from && i < n; i++) to[i] = from[i]; return to; }
END
"$cc" -O1 -o other other.c "$here/../record/phases.c" 2>err || fail "another malloc does not compile"
record other ./other wait 300
why other | grep -q "that of other," || fail "a program's own malloc is '$(why other)'"
[ "$(ask "SELECT count(*) FROM $samples WHERE run = 'other' AND metric LIKE 'malloc%'")" = 0 ] || fail "figures of glibc for another malloc"
# A program at a fixed address that takes malloc's has glibc's all the same, with all four of them too.
cat >fixed.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
void *(*volatile take)(size_t) = malloc;
#ifdef ALL
void *(*volatile clear)(size_t, size_t) = calloc;
void *(*volatile again)(void *, size_t) = realloc;
void (*volatile give)(void *) = free;
#endif
int main(int n, char **arg)
{
    for (int i = 0; i < atoi(arg[n - 1]); i++) {
        memset(take(100000), 1, 100000);
        usleep(20000);
    }
    return 0;
}
END
for all in -DONE -DALL; do
    "$cc" -O1 -fno-pie -no-pie $all -o fixed$all fixed.c 2>err || fail "a program at a fixed address does not compile"
    record fixed$all ./fixed$all 20
    [ "$(most fixed$all malloc_in_use)" -gt 1000000 ] || fail "of fixed$all malloc has '$(most fixed$all malloc_in_use)': $(why fixed$all)"
done
record unset env -u LD_PRELOAD ./phases wait 700
why unset | grep -q "did not load" || fail "a library that is not loaded is '$(why unset)'"
if "$cc" -static -O1 -o static "$here/../record/phases.c" 2>>err; then
    record static ./static wait 300
    why static | grep -q "linked statically" || fail "a static program is '$(why static)'"
fi
if "$cc" -fsanitize=address -O1 -o checked "$here/../record/phases.c" 2>>err; then
    record checked ./checked wait 300
    why checked | grep -q asan || fail "a program with AddressSanitizer is '$(why checked)'"
fi

# What becomes a program that cannot be counted is unknown from then on, not what it was; what is counted again is known.
"$cc" -O1 -o own other.c fixed.c 2>err || fail "another malloc that grows does not compile"
record own sh -c 'sleep 0.3; exec ./own 230' &
record hidden sh -c 'sleep 0.3; exec env -u LD_PRELOAD ./fixed-DONE 230' &
cat >between <<'END'
sleep 0.3
again=$LD_PRELOAD exec env -u LD_PRELOAD sh -c 'sleep 1.5; LD_PRELOAD=$again exec ./fixed-DONE 40'
END
record back sh between &
wait
last() { "$MEMTOOL" memory "$1" --format csv 2>>err | awk -F, -v metric="$2" '$1 == "process" && $2 == metric { print $3 }'; }
for name in own hidden; do
    judged $name grows 1
    [ "$(most $name malloc_in_use)" -gt 0 ] || fail "$name: the shell was not counted"
    for metric in malloc_in_use malloc_held other_anon; do
        [ -z "$(last $name $metric)" ] || fail "$name: $metric of the shell is that of another program: $(last $name $metric)"
    done
    "$MEMTOOL" info $name 2>>err | grep -q "^process last malloc" && fail "info $name has a last figure of malloc"
done
[ "$(last back malloc_in_use)" -gt 3000000 ] || fail "what is counted again is '$(last back malloc_in_use)'"
then=$("$MEMTOOL" memory back --at 1s --format csv 2>>err | awk -F, '$2 == "process" && $3 == "malloc_in_use" { print "is " $1 }')
[ "$then" = "is " ] || fail "in between malloc_in_use '$then'"
# Nor is it drawn, or exported.
"$MEMTOOL" timeline back --metric malloc_in_use --format csv --width 50 >out 2>>err || fail "no curve of malloc"
awk -F, 'NR > 1 && $3 == "" { unknown++ } NR > 1 && ($3 ~ /-/ || $5 ~ /-/) { wrong++ } END { exit !(unknown > 10 && !wrong) }' out || fail "what nobody counted is in the curve"
"$MEMTOOL" timeline back --metric malloc_in_use --exact --format csv >out 2>>err || fail "no changes of malloc"
grep -q -e "-9223372" out && fail "what nobody counted is a change"
("$MEMTOOL" timeline back --metric malloc_in_use --from 0.8s --to 1.2s >out 2>err)
[ $? = 2 ] || fail "a picture of what nobody counted is no exit 2"
"$MEMTOOL" timeline back >out 2>>err || fail "no picture"
grep -q "^The area is what malloc holds though it is free (malloc_held): .* at the peak" out || fail "what malloc holds is not in the picture"
"$MEMTOOL" export back -o back.pftrace 2>>err || fail "no export"

# However many there are, the recorder stays small: below 8 MB, and not by having no figures. (Sanitizers take more.)
if ! nm "$MEMTOOL" 2>>err | grep -q __asan_init; then
    # shellcheck disable=SC2016 # for the shell that is recorded
    "$MEMTOOL" record --interval 60s --name recorder -- "$MEMTOOL" record --malloc --name crowd -- \
        sh -c 'for i in $(seq 300); do sleep 6 & done; wait' 2>err || fail "300 processes are not recorded"
    most=$(ask "SELECT value / 1024 FROM meta m JOIN run r ON r.id = m.run_id WHERE r.name = 'recorder' AND key = 'ru_maxrss_b'")
    [ "$(ask "SELECT count(DISTINCT device) FROM $samples WHERE run = 'crowd' AND metric = 'malloc_in_use'")" -gt 250 ] ||
        fail "of 300 processes malloc was not counted"
    [ "$most" -lt 8000 ] || fail "the recorder of 300 processes takes $most KiB"
fi
