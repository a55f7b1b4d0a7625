#!/bin/sh
# Fuzzes each target for a while: `sh tests/fuzz/smoke.sh BUILD [SECONDS]`
# Starts from tests/fuzz/corpus/NAME; what it finds goes to BUILD/corpus/NAME, a crashing input to
# BUILD/crash/. Copy the input of a mended crash to tests/fuzz/corpus/NAME. fuzz_reports_NAME reports on what
# fuzz_NAME reads, and shares its corpus.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$1 seconds=${2:-20}
failed=0
TMPDIR=$(mktemp -d) # where fuzz_reports_* keep their databases
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 130' INT TERM
for source in tests/fuzz/fuzz_*.c; do
    target=$(basename "$source" .c)
    name=${target#fuzz_}
    name=${name#reports_}
    mkdir -p "$build/corpus/$name" "$build/crash"
    log=$build/$target.log
    if "$build/tests/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -artifact_prefix="$build/crash/${target#fuzz_}-" "$build/corpus/$name" "tests/fuzz/corpus/$name" \
        >"$log" 2>&1 </dev/null; then
        echo "ok    $target: $(grep '^Done' "$log")"
    else
        echo "FAIL  $target:"
        grep -v '^#[0-9]*.*cov:' "$log" | tail -n 60 | sed 's/^/    /'
        failed=1
    fi
done
exit $failed
