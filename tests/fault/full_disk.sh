#!/bin/sh
# A database on a disk that fills up, or that may not grow: import says so, exits 2 and leaves what
# was stored before as it was. Needs the right to mount a small tmpfs.
set -u
if [ "${1-}" != inside ]; then
    unshare -m true 2>/dev/null || { echo "skipped: no right to mount"; exit 77; }
    exec unshare -m sh "$0" inside
fi
fail() {
    echo "FAIL $*"
    cat err
    exit 1
}
mkdir disk
import() { # TRACE
    "$MEMTOOL" import "$SAMPLES/$1/trace.json.gz" --db disk/t.db >out 2>err
}
runs() {
    "$MEMTOOL" query --db disk/t.db --format csv "SELECT count(*) FROM run" 2>err | tail -n 1
}

# 64 KiB do not hold the schema; 540 KiB hold one small run; some sizes between fail elsewhere.
for size in 64 120 180 240 300 420 540; do
    mount -t tmpfs -o size=${size}k none disk || { echo "skipped: no tmpfs"; exit 77; }
    import basic
    small=$?
    [ $small = 0 ] || [ -z "$(ls -A disk)" ] || fail "$size KiB: left behind: $(ls -A disk)"
    before=$(runs)
    import leak_steps
    status=$?
    [ $status = 2 ] || fail "$size KiB: a full disk is exit $status"
    grep -q 'disk is full' err || fail "$size KiB: no word of a full disk"
    grep -q 'Nothing was changed' err || fail "$size KiB: no word of what was done"
    [ "$(runs)" = "$before" ] || fail "$size KiB: runs before: $before, after: $(runs)"
    [ $small = 0 ] && [ "$before" != 1 ] && fail "$size KiB: a stored run is gone"
    [ $small = 0 ] && stored=1
    umount disk
done
# Not a byte is free, but files can be made.
mount -t tmpfs -o size=64k none disk
head -c 65536 /dev/zero >disk/fill
import basic
[ $? = 2 ] || fail "a disk without a free byte is no error"
rm disk/fill
[ -z "$(ls -A disk)" ] || fail "a disk without a free byte: left behind: $(ls -A disk)"
umount disk
[ "${stored-}" = 1 ] || fail "no disk was large enough for a small run"

# The same by a limit on file sizes, whose signal must not end the program.
(ulimit -f 100; import basic)
status=$?
[ $status = 2 ] || fail "a limit on the file size is exit $status"
grep -q 'limit on file sizes' err || fail "no word of the file's size"
[ -z "$(ls -A disk)" ] || fail "a limit on the file size: left behind: $(ls -A disk)"
echo ok
