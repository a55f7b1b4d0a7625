#!/bin/sh
# What is handed out: the archive of a release has what the commit has, packed twice it is the same, and it is refused
# where the tree or the changelog is not of the version; the Debian package built of what the archive holds has nothing
# for lintian to say, names what it is linked with, and its program answers as the one under test.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
root=$(dirname "$SAMPLES")
version=$(sed -n 's/^VERSION *:= *//p' "$root/Makefile")
export HOME="$PWD" LC_ALL=C GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_DATE='2026-01-02 03:04:05 +0000' \
    GIT_COMMITTER_DATE='2026-01-02 03:04:05 +0000'
git -C "$root" rev-parse --git-dir >/dev/null 2>&1 || { echo "needs a checkout of git"; exit 77; }

# A commit of what the checkout has, changed or not.
mkdir tree
(cd "$root" && git ls-files -z | tar --null --no-recursion -cf - --files-from=- --ignore-failed-read) | tar -xf - -C tree
cd tree || exit 1
commit() {
    git -c init.defaultBranch=main init -q . && git add -A &&
        git -c user.name=n -c user.email=n@example.org commit -q --allow-empty -m "$1"
}
commit all
refused() { # WORDS: what dist is to say
    UNRELEASED=${2-} .packages/dist "$version" ../out >../said 2>&1 && complain "packed: $1"
    grep -q "$1" ../said || complain "wanted '$1', got $(cat ../said)"
    [ ! -e "../out/memtool-$version.tar.gz" ] || complain "there is an archive: $1"
}
sed -i "3s/.*/## $version (unreleased)/" docs/CHANGELOG.md && commit unreleased
refused "$version is unreleased"
sed -i "3s/.*/## 99.1 (2026-01-01)/" docs/CHANGELOG.md && commit another
refused "begins with '99.1" 1
sed -i "3s/.*/## $version (2026-01-01)/" docs/CHANGELOG.md
refused "the tree has changes"
commit released

.packages/dist "$version" ../out >/dev/null || complain "not packed"
cp "../out/memtool-$version.tar.gz" ../first.tar.gz
.packages/dist "$version" ../out >/dev/null
cmp ../first.tar.gz "../out/memtool-$version.tar.gz" || complain "packed twice, it is another archive"
(cd ../out && sha256sum -c --quiet "memtool-$version.tar.gz.sha256") || complain "another sum"
git ls-files | sort >../committed
tar -tzf ../first.tar.gz | sed -n "/[^/]\$/s,^memtool-$version/,,p" | sort >../packed
diff ../committed ../packed >/dev/null || complain "other files: $(diff ../committed ../packed | head -n 5)"

# The package, of the archive alone.
cd .. && tar -xzf first.tar.gz && cd "memtool-$version" || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL
.packages/deb "$version" ../deb >../built 2>&1 || complain "no package: $(tail -n 5 ../built)"
.packages/deb "$version" ../again >/dev/null 2>&1
cd .. || exit 1
deb=$(echo deb/*.deb)
cmp "$deb" again/*.deb || complain "built twice, it is another package"
lintian --allow-root --fail-on error,warning "$deb" >lint 2>&1 || complain "lintian: $(head -n 5 lint)"
dpkg-deb -x "$deb" installed || complain "not unpacked"
program=$PWD/installed/usr/bin/memtool
for library in $(objdump -p "$program" | sed -n 's/^ *NEEDED *//p'); do
    file=$(ldd "$program" | sed -n "s,^[[:space:]]*$library => \([^ ]*\).*,\1,p")
    package=$(dpkg -S "$(readlink -f "$file")" 2>/dev/null | cut -d: -f1)
    dpkg-deb -f "$deb" Depends | grep -q "$package" || complain "$library of '$package' is not in Depends"
done
"$program" import "$SAMPLES/basic/trace.json.gz" --db new.db --name run >/dev/null || complain "not imported"
"$MEMTOOL" import "$SAMPLES/basic/trace.json.gz" --db old.db --name run >/dev/null
"$program" table run --db new.db >new
"$MEMTOOL" table run --db old.db >old
cmp new old || complain "the program of the package answers otherwise"
"$program" record --db new.db --malloc -- true >/dev/null 2>said || complain "record --malloc: $(cat said)"
"$program" skill >/dev/null || complain "skill"
for file in share/man/man1/memtool.1.gz share/man/man1/memtool-peak.1.gz share/memtool/schema/peak.json \
    share/memtool/skill/memtool/SKILL.md share/bash-completion/completions/memtool share/zsh/vendor-completions/_memtool \
    lib/memtool/torch/sitecustomize.py; do
    [ -s "installed/usr/$file" ] || complain "no $file"
done
complained "the archive and the package"
