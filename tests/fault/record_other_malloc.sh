#!/bin/sh
# `memtool record --malloc` with jemalloc and tcmalloc, loaded in front of glibc or linked: no figure of
# glibc's stands for theirs, the note says whose malloc it is, and what the kernel counts is there.
set -u
here=$(cd "$(dirname "$0")" && pwd)
fail() {
    echo "FAIL $*"
    cat err out 2>/dev/null
    exit 1
}
cc=${CC:-cc}
export MEMTOOL_DB=t.db
"$cc" -O1 -o held "$here/../record/held.c" -pthread 2>err || fail "held does not compile"
ask() { "$MEMTOOL" query --format csv "$1" 2>>err | tail -n +2; }
look() { # NAME LIBRARY
    note=$(ask "SELECT text FROM v_note WHERE run = '$1' AND kind = 'no_malloc'")
    case $note in
    *"$2"*glibc*) ;;
    *) fail "$1: the note is '$note'" ;;
    esac
    # The shell that becomes the program may have been counted, for a moment.
    of_malloc=$("$MEMTOOL" memory "$1" --format csv 2>>err | awk -F, '$2 == "malloc_in_use" && $3 != "" { print $3 }')
    [ -z "$of_malloc" ] || fail "$1: $of_malloc B of glibc's malloc for another malloc"
    rss=$("$MEMTOOL" memory "$1" --format csv 2>>err | awk -F, '$2 == "rss" { print $4 }')
    [ "${rss:-0}" -gt 1000000 ] || fail "$1: the peak of rss is '$rss'"
    # It grows, by what it maps; that malloc grows or not is not said, for nobody knows.
    verdict=$("$MEMTOOL" leaks "$1" --format csv --columns verdict 2>err | sed -n 2p)
    [ "$verdict" = grows ] || fail "$1: the verdict is '$verdict'"
    seen=$((seen + 1))
}
seen=0
for library in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
    "$cc" -O1 -Wl,--no-as-needed -o linked "$here/../record/held.c" -pthread "-l:$library" 2>err || {
        echo "$library is not installed: .ci/deps check"
        exit 77
    }
    "$MEMTOOL" record --malloc --name "linked $library" -- ./linked 170 map >out 2>err || echo "exit $?" >linked.failed &
    # shellcheck disable=SC2016 # for the inner shell
    "$MEMTOOL" record --malloc --name "loaded $library" -- sh -c 'LD_PRELOAD='"$library"':$LD_PRELOAD exec ./held 170 map' >loaded.out 2>loaded.err ||
        fail "$library in front: exit $?: $(cat loaded.err)"
    wait
    [ ! -e linked.failed ] || fail "linked with $library: $(cat linked.failed)"
    look "linked $library" "$library"
    look "loaded $library" "$library"
done
echo "$seen recordings looked at"
[ $seen = 4 ]
