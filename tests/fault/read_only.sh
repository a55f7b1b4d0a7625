#!/bin/sh
# Folders and databases that may be read but not written: reports work, import says what is wrong.
# Permissions do not bind root, so this needs a user of its own ("nobody") or not to be root.
set -u
fail() {
    echo "FAIL $*"
    cat err
    exit 1
}
here=$(mktemp -d -p /tmp) # each folder above must let others in
trap 'chmod 755 "$here/locked"; rm -rf "$here"' EXIT
cd "$here" || exit 1
chmod 755 .
mkdir locked
"$MEMTOOL" import "$SAMPLES/basic/trace.json.gz" --db locked/t.db --name basic >/dev/null 2>&1 || exit 1
cp "$SAMPLES/nested/trace.json.gz" secret.json.gz
for version in 6 7; do
    gzip -dc "$SAMPLES/../tests/schema/$version.db.gz" >"locked/$version.db" || exit 1
    chmod 444 "locked/$version.db"
done
# a database of today with a run of an older memtool, and the file of that run
gzip -dc "$SAMPLES/../tests/schema/9.db.gz" >locked/9.db || exit 1
cp "$SAMPLES/basic/trace.json.gz" locked/basic.json.gz
"$MEMTOOL" runs --db locked/9.db >/dev/null 2>&1 || exit 1
chmod 555 locked
chmod 444 locked/t.db locked/9.db
chmod 000 secret.json.gz
if [ "$(id -u)" = 0 ]; then
    setpriv --reuid=65534 --regid=65534 --clear-groups "$MEMTOOL" version >/dev/null 2>&1 ||
        { echo "skipped: cannot become nobody"; exit 77; }
    setpriv --reuid=65534 --regid=65534 --clear-groups test -r locked/t.db ||
        { echo "skipped: nobody may not come here"; exit 77; }
    memtool() { setpriv --reuid=65534 --regid=65534 --clear-groups "$MEMTOOL" "$@"; }
else
    memtool() { "$MEMTOOL" "$@"; }
fi
refused() { # MESSAGE ARGUMENT...
    message=$1
    shift
    memtool "$@" >out 2>err
    status=$?
    [ $status = 2 ] || fail "memtool $*: exit $status"
    grep -q "$message" err || fail "memtool $*: no word of '$message'"
    grep -qE 'Nothing was (changed|imported)|not complete' err || fail "memtool $*: no word of what was done"
}

memtool table --db locked/t.db >out 2>err || fail "a database that can only be read has no table"
grep -q aten::rand out || fail "the table is not there"
refused 'readonly' import "$SAMPLES/nested/trace.json.gz" --db locked/t.db
refused 'readonly' runs --shrink --db locked/t.db
grep -q 'cannot be written' err || fail "runs --shrink: no word of why"
refused 'Permission denied' import "$SAMPLES/nested/trace.json.gz" --db locked/new.db
refused 'Permission denied' import secret.json.gz --db locked/t.db
refused 'Permission denied' table --db locked/t.db -o locked/table.txt
refused 'schema version 6; .* may not be changed' table --db locked/6.db
refused 'cannot be upgraded: .*readonly' table --db locked/7.db
memtool peak basic --db locked/9.db >out 2>err || fail "a run of an older memtool has no peak"
memtool peak basic --by category --db locked/9.db >out 2>err
[ $? = 2 ] || fail "a run of an older memtool has categories"
grep -q 'this database cannot be written: in a copy of it (--db), .memtool info. imports basic.json.gz again' err || fail "no word of a copy"
cp locked/9.db locked/basic.json.gz . && chmod 644 9.db basic.json.gz
"$MEMTOOL" info basic --db 9.db >out 2>err || fail "info of the copy"
"$MEMTOOL" peak basic --by category --db 9.db >out 2>err || fail "the copy has no categories"
[ "$(cd locked && find . -type f | wc -l)" = 5 ] || fail "there is more in the folder now: $(ls -A locked)"
chmod 000 locked/t.db
refused 'Permission denied' table --db locked/t.db
echo ok
