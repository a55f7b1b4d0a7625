#!/bin/sh
# The wheel: pip installs it into a bare venv, its program answers as the one under test, where nothing but glibc is
# there, too; what it records with comes along. It lists what it holds, packed twice it is the same, and it goes again.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
root=$(dirname "$SAMPLES")
"$MEMTOOL" import "$SAMPLES/basic/trace.json.gz" --db old.db --name run >/dev/null 2>&1
"$MEMTOOL" peak run --ascii --db old.db >old
[ -s old ] || complain "the program under test answers nothing"
[ $fails = 0 ] || { complained "the program under test"; exit 1; }

# Of the release build's objects.
for time in first second; do
    env -u MAKEFLAGS -u MAKELEVEL SOURCE_DATE_EPOCH=1700000000 make -C "$root" wheel >built 2>&1 || complain "make wheel: $(tail -n 5 built)"
    wheel=$root/$(sed -n 's/\.whl: .*/.whl/p' built)
    mkdir $time
    cp "$wheel" $time || { complained "a wheel"; exit 1; }
    sleep 1 # the files of the tree are newer now
done
cmp first/*.whl second/*.whl || complain "packed twice, it is another wheel"
case $(basename "$wheel") in
memtool-*-py3-none-manylinux_2_[0-9]*_"$(uname -m)".whl) ;;
*) complain "it is called $(basename "$wheel")" ;;
esac

unset PYTHONPATH
python3 -c 'import ensurepip, venv' 2>said || { echo "python3 has no venv: $(tail -n 1 said)"; exit 77; }
# As the action for GitHub installs it: by pip, in a venv of its own, called through a link.
mkdir temp
env RUNNER_TEMP="$PWD/temp" GITHUB_PATH="$PWD/path" PACKAGE="$(echo first/*.whl)" \
    "$root/.github/actions/memtool/install" >said 2>&1 || complain "pip: $(cat said)"
venv=$PWD/temp/memtool
program=$(cat path)/memtool
[ "$(ls "$(cat path)")" = memtool ] || complain "on PATH there is more: $(ls "$(cat path)")"
[ "$("$program" --version)" = "$("$MEMTOOL" --version)" ] || complain "another version: $("$program" --version)"
"$program" import "$SAMPLES/basic/trace.json.gz" --db new.db --name run >/dev/null 2>&1 || complain "not imported"
"$program" peak run --ascii --db new.db >new
cmp old new || complain "the program of the wheel answers otherwise"
ldd "$program" | grep -vE "linux-vdso|/ld-linux|/lib(c|m)\.so|$venv/" >strange && complain "it needs what may not be there: $(cat strange)"

# It finds its files, and reads debug information.
cat >keep.c <<'CODE'
#include <mcheck.h>
#include <stdlib.h>
char *kept;
__attribute__((noinline)) void keep(void)
{
    kept = malloc(3000000);
}
int main(void)
{
    mtrace();
    keep();
    return !kept;
}
CODE
cc -g -O1 -o keep keep.c || complain "not compiled"
MALLOC_TRACE=$PWD/heap.log LD_PRELOAD=libc_malloc_debug.so.0 ./keep || complain "no log of mtrace"
"$program" peak heap.log >new 2>/dev/null
grep -q 'keep' new || complain "no function of a place: $(cat new)"
HOME=$PWD/other "$MEMTOOL" peak heap.log 2>/dev/null | cmp - new || complain "another function of a place"
"$program" record --db rec.db --malloc -- ./keep >said 2>&1 || complain "record --malloc: $(cat said)"
for file in lib/memtool/torch/sitecustomize.py share/man/man1/memtool-peak.1 share/memtool/schema/peak.json \
    share/memtool/skill/memtool/SKILL.md; do
    [ -s "$venv/$file" ] || complain "no $file"
done

# Nothing but glibc, the program and its libraries.
mkdir -p bare/venv/bin bare/venv/lib bare/tmp
cp "$program" bare/venv/bin && cp -r "$venv/lib/memtool" bare/venv/lib && cp "$SAMPLES/basic/trace.json.gz" bare
for file in $(ldd "$program" | grep -oE '/[^ ]*/(ld-linux[^ ]*|lib[cm]\.so\.6)'); do
    mkdir -p "bare$(dirname "$file")" && cp -L "$file" "bare$file"
done
# There is no /proc, which tells the loader where the program is.
bare() {
    LD_ORIGIN_PATH=/venv/bin unshare -r chroot bare /venv/bin/memtool "$@" --db /tmp/t.db 2>said
}
if unshare -r true 2>/dev/null; then
    bare import /trace.json.gz --name run >/dev/null || complain "in a bare root: $(cat said)"
    bare peak run --ascii | cmp old - || complain "in a bare root it answers otherwise"
fi

# What it lists is what it holds.
cat >listed.py <<'PYTHON'
import base64, csv, glob, hashlib, sys, zipfile
z = zipfile.ZipFile(glob.glob("first/*.whl")[0])
record = next(n for n in z.namelist() if n.endswith("/RECORD"))
listed = {name: digest for name, digest, _ in csv.reader(z.read(record).decode().splitlines())}
for name in z.namelist():
    digest = base64.urlsafe_b64encode(hashlib.sha256(z.read(name)).digest()).decode().rstrip("=")
    if name != record and listed.pop(name, "") != "sha256=" + digest:
        sys.exit(f"{name} is not as listed")
if list(listed) != [record] or sum("/licenses/" in n for n in z.namelist()) < 8:
    sys.exit(f"listed and not there: {list(listed)}; or licences are missing")
PYTHON
python3 -B listed.py 2>said || complain "$(cat said)"
"$venv/bin/python" -m pip uninstall -y memtool >said 2>&1 || complain "pip uninstall: $(cat said)"
left=$(cd "$venv" && find . -type f -path '*memtool*' -print)
[ -z "$left" ] || complain "uninstalled, there is still $left"
complained "the wheel"
