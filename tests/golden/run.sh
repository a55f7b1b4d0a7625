#!/bin/sh
# Golden tests: whole commands, compared by stdout, stderr and exit code. `sh tests/golden/run.sh [NAME...]`
#
# A case is a folder beside this script:
#   cmd          shell lines that use $MEMTOOL and $SAMPLES
#   stdout       what they must print, exactly; missing: nothing
#   stderr       the same
#   exit         their exit code; missing: 0
#
# Each runs in an empty folder without a terminal, pager or database, in UTC. $SAMPLES is
# relative ("../samples"), so that messages that name a file are the same everywhere; the folder's
# own absolute path is shown as $PWD.
# MEMTOOL=PROGRAM chooses the program (build/debug/memtool). UPDATE=1 rewrites what is expected.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

# Prints the difference between what is expected of one output and what came; with UPDATE=1, makes
# it the expectation first. An expectation equal to the default (nothing; exit 0) has no file.
compare() { # CASE-DIR TMP OUTPUT
    if [ "${UPDATE-}" = 1 ]; then
        if cmp -s "$2/$3" "$2/default/$3"; then rm -f "$1/$3"; else cp "$2/$3" "$1/$3"; fi
    fi
    expected=$1/$3
    [ -e "$expected" ] || expected=$2/default/$3
    diff -u --label "expected $3" --label "came $3" "$expected" "$2/$3"
}

# Runs one case; prints "ok NAME", or "FAIL NAME" with the differences.
run_case() { # NAME
    case_dir=$here/$1
    if [ ! -f "$case_dir/cmd" ]; then
        echo "FAIL $1: the folder has no file 'cmd'"
        return
    fi
    tmp=$(mktemp -d)
    mkdir "$tmp/home" "$tmp/tmp" "$tmp/work" "$tmp/default"
    touch "$tmp/default/stdout" "$tmp/default/stderr"
    echo 0 >"$tmp/default/exit"
    ln -s "$root/samples" "$tmp/samples"
    (cd "$tmp/work" && exec env -i PATH="$PATH" HOME="$tmp/home" TMPDIR="$tmp/tmp" \
        LC_ALL=C.UTF-8 TZ=UTC UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
        MEMTOOL="$MEMTOOL" SAMPLES=../samples \
        timeout 60 sh "$case_dir/cmd") >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
    echo $? >"$tmp/exit"
    sed -i "s|$tmp/work|\$PWD|g" "$tmp/stdout" "$tmp/stderr"
    for output in stdout stderr exit; do
        compare "$case_dir" "$tmp" $output
    done >"$tmp/diff"
    if [ ! -s "$tmp/diff" ]; then
        echo "ok   $1"
    else
        echo "FAIL $1"
        sed 's/^/    /' "$tmp/diff"
    fi
    rm -rf "$tmp"
}

if [ "${1-}" = --case ]; then
    (run_case "$3" >"$2/$3") # in a shell of its own: if that dies, xargs goes on
    exit 0
fi

MEMTOOL=${MEMTOOL:-build/debug/memtool}
case $MEMTOOL in
/*) ;;
*) MEMTOOL=$root/$MEMTOOL ;;
esac
export MEMTOOL
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
trap 'exit 130' INT TERM

if [ $# -eq 0 ]; then
    for dir in "$here"/*/; do
        [ ! -d "$dir" ] || set -- "$@" "$(basename "$dir")"
    done
fi
[ $# -eq 0 ] || printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 sh "$here/run.sh" --case "$results"
for name in "$@"; do
    [ -s "$results/$name" ] || echo "FAIL $name: was ended before it left a result" >"$results/$name"
done

cat /dev/null "$results"/* 2>/dev/null | awk '
    { print }
    /^ok / { passed++ }
    /^FAIL / { failed++ }
    END {
        printf "%d passed, %d failed\n", passed, failed
        exit failed > 0
    }'
