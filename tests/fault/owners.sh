#!/bin/sh
# Files of other users: a database that was found rather than named, and a cache, are used only where
# nobody else can have put them there. Needs a second user ("nobody"), so root or a way to become it.
set -u
here=$(mktemp -d -p /tmp)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
chmod 755 .
other() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
{ [ "$(id -u)" = 0 ] && other "$MEMTOOL" version >/dev/null 2>&1; } || { echo "skipped: cannot become nobody"; exit 77; }
fails=0
complain() {
    echo "FAIL $*"
    cat err
    fails=$((fails + 1))
}
memtool() { "$MEMTOOL" "$@" >out 2>err; }
cp "$SAMPLES/nested/trace.json.gz" in.json.gz
chmod 644 in.json.gz
export MEMTOOL_CACHE="$here/cache"

# A database in a folder above, of another user, through a link of another user, and our own.
mkdir -p shared/mine
chmod 777 shared
(cd shared && other "$MEMTOOL" import ../in.json.gz --name theirs >/dev/null 2>&1) || complain "nobody cannot import"
(cd shared/mine && memtool runs)
[ $? = 2 ] || complain "a database of another user is read"
grep -q 'belongs to another user' shared/mine/err || complain "no word of the owner: $(cat shared/mine/err)"
(cd shared/mine && memtool import ../../in.json.gz --name ours)
[ $? = 2 ] || complain "a database of another user is written"
(cd shared/mine && memtool runs --delete theirs)
[ $? = 2 ] || complain "a run in a database of another user is deleted"
(cd shared && memtool table)
[ $? = 2 ] || complain "a database of another user in this folder is read"
(cd shared/mine && memtool runs --db ../.memtool.db) || complain "named by --db it is not read"
(cd shared/mine && MEMTOOL_DB=../.memtool.db memtool runs) || complain "named by MEMTOOL_DB it is not read"
(cd shared/mine && memtool table ../../in.json.gz) || complain "a file is refused"
memtool import in.json.gz --db precious.db --name precious || complain import
rm shared/.memtool.db
ln -s ../precious.db shared/.memtool.db
(cd shared/mine && memtool import "$SAMPLES/basic/trace.json.gz") || complain "our own link to our own database"
chown -h 65534 shared/.memtool.db
(cd shared/mine && memtool import "$SAMPLES/loop/trace.json.gz")
[ $? = 2 ] || complain "another user's link to our database is followed"
rm shared/.memtool.db shared/mine/out shared/mine/err

# A cache that others can write is not used, and what is planted there not shown.
memtool tree in.json.gz || complain "a cache of our own"
copy=$(ls cache)
memtool table in.json.gz || complain "again"
cp out want
refused() { # WHAT CACHE
    before=$(ls -lR "$2")
    MEMTOOL_CACHE=$2 memtool table in.json.gz || complain "$1: no report"
    cmp -s out want || complain "$1: another report"
    grep -q 'are not cached' err || complain "$1: no word of it"
    [ "$(ls -lR "$2")" = "$before" ] || complain "$1: the folder was changed"
    for option in --cache --clear-cache; do
        MEMTOOL_CACHE=$2 memtool runs $option
        [ $? = 2 ] || complain "$1: runs $option is no error"
        grep -q 'Nothing was changed' err || complain "$1: runs $option does not say what was done"
    done
    [ "$(ls -lR "$2")" = "$before" ] || complain "$1: the folder was changed"
}
"$MEMTOOL" import "$SAMPLES/basic/trace.json.gz" --db planted.db >/dev/null 2>&1
mkdir theirs wide group
cp planted.db "theirs/$copy"
cp planted.db "wide/$copy"
cp planted.db "group/$copy"
chown 65534 theirs
chmod 777 wide
chmod 770 group
refused "a folder of another user" theirs
refused "a folder that all may write" wide
refused "a folder that a group may write" group

# Without a home there is no cache: nothing is kept, nothing is left, no name can be foreseen.
mkdir tmp
no_home() { env -u HOME -u MEMTOOL_CACHE -u XDG_CACHE_HOME TMPDIR="$here/tmp" "$MEMTOOL" "$@" >out 2>err; }
no_home table in.json.gz || complain "no report without HOME"
cmp -s out want || complain "another report without HOME"
grep -q 'HOME is not set' err || complain "no word of HOME"
[ -z "$(ls -A tmp)" ] || complain "left in TMPDIR: $(ls -AR tmp)"
no_home diff in.json.gz "$SAMPLES/basic/trace.json.gz" || complain "no diff without HOME"
[ "$(grep -c 'HOME is not set' err)" = 1 ] || complain "said twice"
# A relative one is none either: else each folder would get a cache.
env -u HOME -u MEMTOOL_CACHE XDG_CACHE_HOME=here TMPDIR="$here/tmp" "$MEMTOOL" table in.json.gz >out 2>err
cmp -s out want || complain "another report with a relative XDG_CACHE_HOME"
[ ! -e here ] || complain "a cache in a relative XDG_CACHE_HOME"
timeout -s INT 0.05 env -u HOME -u MEMTOOL_CACHE TMPDIR="$here/tmp" "$MEMTOOL" table "$SAMPLES/leak_steps/trace.json.gz" >out 2>&1
[ -z "$(ls -A tmp)" ] || complain "Ctrl-C leaves in TMPDIR: $(ls -AR tmp)"
no_home runs --cache
[ $? = 2 ] || complain "a list of no cache"
# A database of an older memtool that is imported again stays its owner's.
mkdir older
gzip -dc "$SAMPLES/../tests/schema/6.db.gz" >older/t.db
cp "$SAMPLES/basic/trace.json.gz" older/basic.json.gz
cp "$SAMPLES/nested/trace.json.gz" older/nested.json.gz
chown 65534:65534 older/t.db
chmod 640 older/t.db
memtool runs --db older/t.db || complain "an older database of another user"
grep -q 'importing its 2 runs again' err || complain "it was not imported again"
[ "$(stat -c '%u:%g %a' older/t.db)" = '65534:65534 640' ] || complain "it has another owner: $(ls -l older/t.db)"
echo "$fails complaints"
[ $fails = 0 ]
