#!/bin/sh
# Signals that whoever starts `memtool record` has ignored: it is recorded all the same, and the command ignores the same.
set -u
fail() {
    echo "FAIL $*"
    cat err
    exit 1
}
export MEMTOOL_DB=t.db
: >err

# What a command ignores, as the kernel tells it, under the recorder and without.
ignored() { # SIGNALS, [the recorder]
    signals=$1
    shift
    timeout -k 1 20 env "--ignore-signal=$signals" "$@" grep SigIgn /proc/self/status 2>err
}
for signals in CONT CHLD PIPE XFSZ CHLD,PIPE,XFSZ INT,QUIT,HUP,TERM,USR1; do
    want=$(ignored "$signals") || fail "no answer without a recorder"
    got=$(ignored "$signals" "$MEMTOOL" record --) || fail "'$signals' ignored is exit $?"
    [ "$got" = "$want" ] || fail "with '$signals' ignored the command has $got, not $want"
done

# It ends as the command did.
timeout -k 1 20 env --ignore-signal=CHLD "$MEMTOOL" record --name seven -- sh -c 'exit 7' 2>err
[ $? = 7 ] || fail "the exit code with SIGCHLD ignored"
"$MEMTOOL" info seven --format csv | grep -q "^file.exit_status,7" || fail "the run does not tell how it ended"
[ "$("$MEMTOOL" query --format csv "SELECT count(*) FROM v_note WHERE kind NOT LIKE 'peak_%'" | tail -1)" = 0 ] || fail "a whole recording has a note"
exit 0
