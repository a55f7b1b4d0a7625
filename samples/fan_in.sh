#!/bin/sh
# Loads jobs into ClickHouse: fan_in.sh FOLDER STATE [OPTION OF clickhouse-client ...]
#
# FOLDER has a folder for each job, with what its ranks wrote; it may be a mounted object store. A
# job is loaded once its files are what the call before saw, so that none is read while it is
# written: call this every few minutes. What breaks off is loaded again by the next call.
# STATE has a database of memtool for each job, and what was said of it; a job whose .loaded is
# deleted is loaded again, which does no harm.
set -eu
memtool=${MEMTOOL:-memtool}
folder=$1 state=$2
shift 2
mkdir -p "$state"
failed=0

# The files of a job with their sizes.
files_of() { # JOB
    (cd "$folder/$1" && find . -type f -exec wc -c {} \; | sort)
}

# A file that is damaged, or no recording, is named in the log, and the others go on.
load() { # JOB OPTION...
    job=$state/$1
    "$memtool" import "$folder/$1" --group "$1" --partial --db "$job.memtool.db" >"$job.log" 2>&1 || :
    "$memtool" export --rollup "$1" --format tsv --db "$job.memtool.db" -o "$job.tsv" 2>>"$job.log" || return 1
    shift
    clickhouse-client "$@" --insert_distributed_sync 1 <"$job.tsv" 2>>"$job.log" \
        --query 'INSERT INTO memtool.rollup FORMAT TabSeparatedWithNames' || return 1
    rm "$job.tsv"
}

for path in "$folder"/*/; do
    [ -d "$path" ] || continue
    name=$(basename "$path")
    files=$(files_of "$name")
    [ "$files" != "$(cat "$state/$name.loaded" 2>/dev/null)" ] || continue
    if [ "$files" != "$(cat "$state/$name.seen" 2>/dev/null)" ]; then
        printf '%s\n' "$files" >"$state/$name.seen"
    elif load "$name" "$@"; then
        printf '%s\n' "$files" >"$state/$name.loaded"
        echo "$name: loaded"
    else
        echo "$name: not loaded, see $state/$name.log" >&2
        failed=1
    fi
done
exit "$failed"
