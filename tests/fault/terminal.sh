#!/bin/sh
# What a terminal gets that a file does not: the progress line, colours, the pager, narrow tables.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
script -qec true /dev/null >/dev/null 2>&1 </dev/null || { echo "skipped: no script(1)"; exit 77; }
escape=$(printf '\033')
on_terminal() { # COMMAND: its output as a terminal sees it
    TERM=xterm script -qec "$1" /dev/null </dev/null >out 2>&1
}
has() { grep -q -e "$1" "${2-out}"; }

gzip -dc "$SAMPLES/cnn_b16/trace.json.gz" >plain.json
"$MEMTOOL" import plain.json --db t.db --name base >/dev/null 2>&1 || complain import
table="$MEMTOOL table base --db t.db --limit 0"

# Progress, for an input that takes its time: longer than a busy machine takes to begin.
for pause in 0.4 2 8; do
    slow="(head -c 100000 plain.json; sleep $pause; tail -c +100001 plain.json) | $MEMTOOL import - --db u.db --replace"
    on_terminal "$slow"
    has '/s' && has "$escape\[K" && break
done
{ has '/s' && has "$escape\[K"; } || complain "no progress on a terminal"
CI=1 on_terminal "$slow"
has "$escape" && complain "progress in CI"
on_terminal "$slow 2>err"
has "$escape" err && complain "progress in a file"
TERM=dumb script -qec "$slow" /dev/null </dev/null >out 2>&1
has "$escape" && complain "progress on a dumb terminal"

# Colours.
on_terminal "$table --no-pager"
has "$escape\[" || complain "no colours on a terminal"
NO_COLOR=1 on_terminal "$table --no-pager"
has "$escape\[" && complain "colours though NO_COLOR is set"
on_terminal "$table --no-pager --no-color"
has "$escape\[" && complain "colours though --no-color is given"
on_terminal "$table --format csv"
has "$escape\[" && complain "colours in CSV"
$table >out
has "$escape" && complain "colours in a file"

# The pager.
MEMTOOL_PAGER="cat >paged" on_terminal "$table"
has aten::empty paged || complain "no pager on a terminal"
has aten::empty && complain "the pager was given a copy"
rm -f paged
PAGER="cat >paged" on_terminal "$table"
has aten::empty paged || complain "PAGER is not used"
rm -f paged
MEMTOOL_PAGER="cat >paged" on_terminal "$table --no-pager"
{ [ ! -e paged ] && has aten::empty; } || complain "--no-pager pages"
MEMTOOL_PAGER="cat >paged" on_terminal "$table --format json"
{ [ ! -e paged ] && has aten::empty; } || complain "JSON is paged"
MEMTOOL_PAGER="cat >paged" on_terminal "$table -o file"
{ [ ! -e paged ] && has aten::empty file; } || complain "a file is paged"
MEMTOOL_PAGER="cat >paged" $table >out
{ [ ! -e paged ] && has aten::empty; } || complain "paged without a terminal"
MEMTOOL_PAGER=/nonexistent/pager on_terminal "$table"
has aten::empty || complain "without a working pager nothing is shown"
MEMTOOL_PAGER="head -n 1" on_terminal "$table; echo exit \$?"
has 'exit 0' || complain "leaving the pager early is a failure"

# The width.
COLUMNS=70 on_terminal "$table --columns name,self_net_b,net_b,self_alloc_b,alloc_b,self_freed_b,freed_b,calls_n,time_ns --no-pager --no-color --ascii | cat"
awk 'length($0) > 100 { wide = 1 } END { exit !wide }' out || complain "a pipe gets a narrow table"
COLUMNS=70 on_terminal "$table --no-pager --no-color --ascii"
tr -d '\r' <out | awk 'length($0) > 70 { bad = 1 } END { exit bad }' ||
    complain "a table is wider than the terminal"
"$MEMTOOL" import "$SAMPLES/snapshots/fragmented.pickle" --db t.db --name gpu >/dev/null 2>&1 || complain import
check_width() { # COLUMNS REPORT
    COLUMNS=$1 on_terminal "$MEMTOOL --db t.db --no-pager $2"
    # Commands to copy, examples and paths are not wrapped.
    tr -d '\r' <out | sed "s/$escape\[[0-9;]*m//g; /^ *look: /d; /^  memtool /d; /^source /d" >plain
    [ "$(LC_ALL=C.UTF-8 wc -L <plain)" -le "$1" ] || complain "$2 is wider than $1 columns"
}
for report in runs 'info gpu' 'table base' 'tree base' 'peak gpu' 'leaks base' 'memory gpu' 'segments gpu' \
    'fragmentation gpu --fit 40MiB' 'fragmentation gpu' 'diff base gpu' 'timeline base' \
    'check base --max-peak 1MiB' 'table --help' 'timeline --help' help; do
    check_width 80 "$report"
done
for report in runs 'table base' 'table base --by step,name --sort calls_n' 'tree base' 'peak gpu' 'peak base --per step' \
    'peak base --per name' 'peak base --at 1ms --at 2ms' 'leaks base' 'memory gpu' 'segments gpu' 'fragmentation gpu' \
    'timeline base --by site'; do
    check_width 60 "$report"
    check_width 40 "$report"
done
check_width 60 'fragmentation gpu --fit 40MiB'
check_width 60 'diff base gpu'
COLUMNS=40 on_terminal "$MEMTOOL --db t.db --no-pager table base --sort calls_n"
{ has 'CALLS' && has 'SELF ALLOC,'; } || complain "what rows are sorted by is left out: $(cat out)"

# Hostile names: of a file, a folder, a database, a run, an op; nothing of them acts on the terminal.
evil=$(printf 'a\033]0;pwned\007b')
mkdir "$evil"
sed "s/aten::empty\"/aten::em\\\\u001b[31mpty\"/g" plain.json >"$evil/$evil.json"
echo x >"$evil/$evil.txt"
grep -q 'em.u001b' "$evil/$evil.json" || complain "no hostile name in the trace"
cp "$SAMPLES/nested/trace.json.gz" "$evil.json.gz"
"$MEMTOOL" import "$evil/$evil.json" --db h.db --name "$evil" >/dev/null 2>&1 || complain import
ops="SELECT DISTINCT name FROM v_node"
while read -r line; do
    on_terminal "MEMTOOL_DB=h.db $MEMTOOL --no-pager --no-color $line"
    grep -q "$escape" out && complain "$line: an escape sequence reaches the terminal"
    grep -q 'x1b\|u001b' out || complain "$line: the name is not there: $(cat out)"
done <<LIST
diff '$evil.json.gz' '$evil' --section leak,total
diff './$evil.json.gz' ./plain.json
table --limit 0
table --limit 0 --format csv
table --limit 0 --format tsv
table --limit 0 --format json
table --limit 0 --format markdown
table --limit 0 --compat torch
table --limit 0 --format csv -o /dev/tty
table --limit 0 --compat torch -o /dev/tty
tree --limit 0
runs
info
check --max-peak 1 --format junit
check --max-peak 1 --format github
export --baseline
timeline --by site --format svg
query '$ops'
query '$ops' --format csv
query '$ops' --format tsv
import '$evil' --replace
import '$evil/$evil.json' --db '$evil.db'
runs --db '$evil/$evil.db'
LIST
complained ""
