#!/bin/sh
# Runs every test against one build: `sh tests/run.sh build/debug [KIND...]`
#
#   unit    tests/unit/test_*.c     a cmocka program each; its own count of tests
#   fuzz    tests/fuzz/fuzz_*.c     replays tests/fuzz/corpus/NAME (of fuzz_reports_NAME too); one test each
#   fault   tests/fault/*.sh        exit 0 passed, 77 skipped; one test each
#   matrix  tests/matrix/test_*.py  exit 0 passed, 77 skipped; its last line counts its tests
#   golden  tests/golden/*/         whole commands; one test each
#
# A line per program; the whole log of one that fails, and why one was skipped. Nothing stops at a
# failure. The last line is `N passed, N failed`, with `, N skipped` where tests were skipped; exit 1 if any failed. A matrix
# ends with such a line too; what ends without one, or without leaving a result, failed.
# Every program runs in the repository's root (fault and matrix in an empty folder), with its own
# empty TMPDIR and HOME and with MEMTOOL, SAMPLES and DATA set (DATA: ../shared/data where a project
# has more recordings there, else tests/recordings); of the caller's environment (CI, NO_COLOR,
# PAGER, MEMTOOL_DB ...) it sees PATH alone, so that a test means the same everywhere.
set -u
cd "$(dirname "$0")/.." || exit 1
root=$PWD
DATA=$root/../shared/data
[ -d "$DATA/torch" ] || DATA=$root/tests/recordings

# Counts the TAP output of cmocka on standard input: "PASSED FAILED SKIPPED". A test that was
# planned and never reported (the program died) failed; so did a program that ran nothing.
count_tap() { # EXIT-STATUS
    awk -v status="$1" '
        /^1\.\.[0-9]+$/ { planned += substr($0, 4) }
        /^(not )?ok [0-9]+ # SKIP/ { skipped++; next }
        /^ok [0-9]+/ { passed++ }
        /^not ok [0-9]+/ { failed++ }
        END {
            lost = planned - passed - failed - skipped
            if (lost > 0) failed += lost
            if ((status != 0 || planned == 0) && failed == 0) failed = 1
            print passed + 0, failed + 0, skipped + 0
        }'
}

# One test counted by the exit status alone.
count_exit() { # EXIT-STATUS
    case $1 in
    0) echo 1 0 0 ;;
    77) echo 0 0 1 ;;
    *) echo 0 1 0 ;;
    esac
}

# Counts a log whose last line is `N passed, N failed`, perhaps with `, N skipped`: "PASSED FAILED
# SKIPPED". A program that says nothing of the kind failed; so did one that says that nothing failed,
# or that nothing ran, and exits otherwise.
count_last_line() { # EXIT-STATUS LOG
    [ "$1" != 77 ] || { echo 0 0 1 && return; }
    tail -n 1 "$2" | awk -v status="$1" '
        /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ { passed = $1; failed = $3; skipped = $5 }
        END {
            if ((status != 0 || passed + skipped == 0) && failed == 0) failed = 1
            print passed + 0, failed + 0, skipped + 0
        }'
}

# Why tests were skipped: the last line of a program that was skipped whole, else the lines that say so.
reasons() { # EXIT-STATUS LOG
    if [ "$1" = 77 ]; then tail -n 1 "$2"; else grep '^skip\|^ok .*# SKIP' "$2"; fi | sed 's/^/    /'
}

# Runs one program, prints its line (and its log if it failed), leaves its counts in RESULTS.
run_one() { # KIND NAME
    kind=$1 name=$2 id=$kind.$name
    log=$RESULTS/$id.log
    tmp=$RESULTS/$id.tmp
    mkdir -p "$tmp/home" "$tmp/tmp" "$tmp/work"
    folder=$root
    case $kind in
    unit) set -- "$BUILD/tests/unit/$name" ;;
    fuzz)
        corpus=${name#fuzz_} # what is reported on is what is read
        set -- "$BUILD/tests/fuzz/$name" "tests/fuzz/corpus/${corpus#reports_}"
        ;;
    fault) folder=$tmp/work && set -- sh "$root/tests/fault/$name.sh" ;;
    matrix) folder=$tmp/work && set -- python3 -B "$root/tests/matrix/$name.py" ;;
    esac
    env -i -C "$folder" PATH="$PATH" HOME="$tmp/home" TMPDIR="$tmp/tmp" LC_ALL=C.UTF-8 TZ=UTC \
        MEMTOOL="$MEMTOOL" SAMPLES="$root/samples" DATA="$DATA" CMOCKA_MESSAGE_OUTPUT=TAP \
        UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 timeout 1800 "$@" >"$log" 2>&1 </dev/null
    status=$?
    case $kind in
    unit) counts=$(count_tap $status <"$log") ;;
    matrix) counts=$(count_last_line $status "$log") ;;
    *) counts=$(count_exit $status) ;;
    esac
    rm -rf "$tmp"
    echo "$counts" >"$RESULTS/$id.count"
    # shellcheck disable=SC2086 # three words
    set -- $counts
    if [ "$2" -gt 0 ]; then
        {
            printf 'FAIL  %-6s %s: %d of %d failed (exit %d)\n' "$kind" "$name" "$2" $(($1 + $2)) $status
            sed 's/^/    /' "$log"
        } >"$log.shown"
    else
        {
            printf 'ok    %-6s %s: %d passed%s\n' "$kind" "$name" "$1" \
                "$([ "$3" = 0 ] || echo ", $3 skipped")"
            [ "$3" = 0 ] || reasons $status "$log"
        } >"$log.shown"
    fi
    flock "$RESULTS/lock" cat "$log.shown"
}

run_golden() {
    sh tests/golden/run.sh >"$RESULTS/golden.log" 2>&1
    counts=$(count_last_line $? "$RESULTS/golden.log")
    echo "$counts" >"$RESULTS/golden.count"
    case $counts in
    *' 0 '*)
        echo "ok    golden $(tail -n 1 "$RESULTS/golden.log" | sed 's/, 0 failed//')"
        ;;
    *)
        grep -v '^ok ' "$RESULTS/golden.log" | sed '$d'
        echo "FAIL  golden $(tail -n 1 "$RESULTS/golden.log")"
        ;;
    esac
}

wanted() { # KIND
    [ -z "$KINDS" ] || case " $KINDS " in *" $1 "*) ;; *) false ;; esac
}

# What was to run, "KIND NAME" a line; the slow ones first.
list_tests() {
    for kind in fault matrix fuzz unit; do
        wanted $kind || continue
        for file in tests/"$kind"/*; do
            name=$(basename "$file")
            case $kind/$name in
            unit/test_*.c | fuzz/fuzz_*.c) echo "$kind ${name%.c}" ;;
            fault/*.sh) echo "$kind ${name%.sh}" ;;
            matrix/test_*.py) echo "$kind ${name%.py}" ;;
            esac
        done
    done
}

# Counts as failed what was to run and left no result: something ended the shell around it.
find_lost() {
    while read -r kind name; do
        [ -s "$RESULTS/$kind.$name.count" ] && continue
        echo 0 1 0 >"$RESULTS/$kind.$name.count"
        printf 'FAIL  %-6s %s: was ended before it left a result\n' "$kind" "$name"
        [ ! -e "$RESULTS/$kind.$name.log" ] || sed 's/^/    /' "$RESULTS/$kind.$name.log"
    done <"$RESULTS/planned"
}

if [ "${1-}" = --one ]; then
    (run_one "$2" "$3") # in a shell of its own: if that dies, xargs goes on
    exit 0
fi

BUILD=${1:-build/debug}
[ $# -eq 0 ] || shift
KINDS=$*
RESULTS=$(mktemp -d)
trap 'rm -rf "$RESULTS"' EXIT
trap 'exit 130' INT TERM
export BUILD RESULTS MEMTOOL="$root/$BUILD/memtool"

list_tests >"$RESULTS/planned"
xargs -r -n 2 -P "$(nproc)" sh tests/run.sh --one <"$RESULTS/planned"
find_lost
! wanted golden || run_golden

cat "$RESULTS"/*.count | awk '
    { passed += $1; failed += $2; skipped += $3 }
    END {
        printf "%d passed, %d failed", passed, failed
        if (skipped) printf ", %d skipped", skipped
        print ""
        exit failed > 0
    }'
