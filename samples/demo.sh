#!/bin/sh
# `make demo`: imports one recording into a database of its own and shows where its memory went.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
PATH=$PWD/build:$PATH
export MEMTOOL_DB="$tmp/demo.db"

run() { # COMMAND...: shows it, runs it
    printf '\n$ %s\n' "$*"
    "$@"
}
run memtool import samples/cnn_b16/trace.json.gz --name cnn
run memtool table cnn --limit 10
run memtool tree cnn --depth 3 --min 1MiB

printf '\n%s\n' "The program is build/memtool. Try it on a trace of your own: build/memtool import trace.json"
