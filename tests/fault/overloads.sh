#!/bin/sh
# _ExperimentalConfig(capture_overload_names=True) records aten::add as aten::add.Tensor: reports say
# the same of such a recording. Nothing is lost: v_op has the names as they are recorded.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"

answers() { # RUN
    for report in "table --by name" "table --by category,phase" "table --compat torch" "peak --by tensor" "leaks --all" advise; do
        # shellcheck disable=SC2086
        "$MEMTOOL" $report "$1" --db t.db --format csv 2>&1 || complain "$1: $report"
    done
}

for sample in cnn_b16 checkpoint leak_steps; do
    gzip -dc "$SAMPLES/$sample/trace.json.gz" >plain.json
    sed 's/^\( *"name": "aten::[a-z0-9_]*\)"/\1.Tensor_out"/' plain.json >overloads.json
    for file in plain overloads; do
        "$MEMTOOL" import $file.json --db t.db --name run --replace >/dev/null 2>err || { complain "$sample: import"; cat err; }
        answers run >$file
    done
    [ "$(wc -l <plain)" -gt 100 ] || complain "$sample: there is hardly anything to compare"
    cmp -s plain overloads || { complain "$sample"; diff plain overloads | head -5; }
    "$MEMTOOL" query --db t.db "SELECT count(*) > 100 FROM v_op WHERE name GLOB 'aten::*.Tensor_out'" --format csv | grep -qx 1 || complain "$sample: recorded names are lost"
done
complained ""
