#!/bin/sh
# A query of more rows than are held at once: all are written, a limit counts the rest, and an error
# in the middle is told although rows were written.
set -u
fail() {
    echo "FAIL $*"
    exit 1
}
"$MEMTOOL" import "$SAMPLES/basic/trace.json.gz" --db t.db >/dev/null 2>&1 || fail import
numbers="WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 25000) SELECT"
query() { # SQL OPTION...
    "$MEMTOOL" query --db t.db "$@" >out 2>err
}

seq 1 25000 | sed 's/.*/&,n&/; 1i i,name' >want
query "$numbers i, 'n' || i AS name FROM c" --format csv || fail "csv: exit $?"
cmp -s out want || fail "csv: other rows"
head -n 20001 want >some
query "$numbers i, 'n' || i AS name FROM c" --format csv --limit 20000 || fail "a limit: exit $?"
cmp -s out some || fail "a limit: other rows"
grep -q '^note: 5,000 more rows' err || fail "a limit: no word of the rows left out: $(cat err)"
query "$numbers i FROM c" --format json --limit 20000 || fail "json: exit $?"
[ "$(grep -c '^{"i":' out)" = 20000 ] || fail "json: other rows"
grep -q '^"left_out_n":5000,$' out || fail "json: the rows left out are not counted"
query "$numbers i FROM c" --limit 3 || fail "a table: exit $?"
grep -q '^24,997 more rows' out || fail "a table does not say what it left out"

query "$numbers i, abs(CASE i WHEN 20000 THEN -9223372036854775807 - 1 ELSE i END) AS v FROM c" --format csv
status=$?
[ $status = 2 ] || fail "an error in the middle is exit $status"
[ "$(wc -l <out)" = 20000 ] || fail "an error in the middle: $(wc -l <out) lines"
grep -q 'integer overflow' err || fail "the error is not told"
grep -q 'is not all' err || fail "it is not told that rows are missing"

# A query without end: with a limit it ends, and what was not counted is not known.
endless="WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c"
ended() { # SQL OPTION...
    timeout 120 "$MEMTOOL" query --db t.db "$@" >out 2>err || fail "endless, $*: exit $?"
}
ended "$endless" --limit 3
{ sed -n 2,4p out | tr -d '\n ' | grep -qx 123; } || fail "endless: other rows: $(head out)"
grep -qE '^at least [1-9][0-9,]+ more rows; not all were counted\. --limit 0 waits for all\.$' out ||
    fail "endless: what is left out: $(tail -n 1 out)"
ended "$endless WHERE i < 4" --limit 3
grep -q '^perhaps more rows; the search for them was given up\. --limit 0 waits for all\.$' out ||
    fail "endless without a row: what is left out: $(tail -n 1 out)"
ended "$endless" --limit 3 --format json
grep -q '^"left_out_n":null,$' out || fail "endless, json: $(grep left out)"
grep -q '^"has_more":true,$' out || fail "endless, json: $(grep has_more out)"
ended "$endless" --limit 3 --format csv
grep -q '^note: at least' err || fail "endless, csv: $(cat err)"
ended "$endless" --limit 20000 --format tsv
[ "$(wc -l <out)" = 20001 ] || fail "endless, tsv: $(wc -l <out) lines"
grep -q '^note: at least' err || fail "endless, tsv: $(cat err)"
echo ok
