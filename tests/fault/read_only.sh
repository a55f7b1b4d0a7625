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
chmod 555 locked
chmod 444 locked/t.db
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
[ "$(cd locked && find . -type f | wc -l)" = 3 ] || fail "there is more in the folder now: $(ls -A locked)"
chmod 000 locked/t.db
refused 'Permission denied' table --db locked/t.db
echo ok
