#!/bin/sh
# The Makefile, on a small program in place of memtool: what is built again when files, flags and the
# compiler change, which program build/memtool is, and what is installed and removed again.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
root=$(dirname "$SAMPLES")
mkdir -p tree/lib/room tree/lib/flame tree/formats tree/cmd tree/queries tree/docs/man tree/tests/unit tree/tests/fuzz
cp "$root/Makefile" tree
cp "$root/queries/embed.awk" tree/queries
cp "$root/lib/flame/embed.awk" tree/lib/flame
cp "$root/docs/man/page.awk" tree/docs/man
cd tree || exit 1
cat >lib/room/one.c <<'END'
int mt_one(void);
int mt_one(void)
{
    return 1;
}
END
sed 's/one/two/; s/1/2/' lib/room/one.c | sed 's/one/two/' >lib/two.c
sed 's/one/three/g; s/1/3/' lib/room/one.c >formats/three.c
cat >cmd/main.c <<'END'
#include "gen/queries.h"
#include <stdio.h>
int main(int argc, char **argv)
{
    int queries = 0;
    while (mt_queries[queries].name)
        queries++;
    if (argc > 2 && *argv[1] == 'c')
        return printf("completion for %s\n", argv[2]) < 0;
    if (argc > 2 && *argv[1] == 'h')
        return printf(".Sh NAME\n") < 0;
    printf("%d queries, sort %d\n", queries, SORT);
    return 0;
}
END
for name in first second; do printf -- '-- name: %s\n-- A question.\nSELECT 1;\n' $name >queries/$name.sql; done
# what makes the empty database
mkdir -p lib/db
touch lib/db/db.h lib/db/db_parts.h
cat >queries/image.c <<'END'
#include "gen/queries.h"
#include <stdio.h>
int main(void)
{
    return printf("extern int mt_image;\nint mt_image = %d;\n", (int)MT_QUERY_N) < 0;
}
END
printf '.Dd January 1, 2026\n' >docs/man/memtool.mdoc
# what goes with the program, and is none of its objects
mkdir -p lib/record/torch
echo '# a hook' >lib/record/torch/sitecustomize.py
echo '#include "lib/record/malloc_table.h"' >lib/record/malloc_preload.c
echo 'extern int mt_table;' >lib/record/malloc_table.h

quietly() { # ARGUMENT...: make, in one job, without what the make around it wants
    env -u MAKEFLAGS -u MAKELEVEL make CFLAGS="$FLAGS" "$@" >log 2>&1 || {
        echo "FAIL make $*: exit $?: $(cat log)"
        exit 1
    }
}
prints() { # WHAT WANTED [PROGRAM]
    got=$(${3-build/memtool})
    [ "$got" = "$2" ] || complain "$1: '$got', want '$2'"
}
holds() { # WHAT FILE...: all objects of the library, in order
    what=$1
    shift
    got=$(ar t build/release/libmemtool.a | sort | tr '\n' ' ')
    [ "$got" = "$* " ] || complain "$what: '$got'"
}
idle() { # WHAT: a second make does nothing
    quietly all
    ! grep . log || complain "$1: built again without a reason"
}

FLAGS=-DSORT=1
quietly all
prints 'at first' '2 queries, sort 1'
holds 'all files, in folders of folders too' assets.o image.o one.o queries.o three.o two.o
idle 'nothing changed'
sed 's/one/four/g' lib/room/one.c >lib/room/four.c
quietly all
holds 'a new file' assets.o four.o image.o one.o queries.o three.o two.o
rm lib/room/four.c lib/two.c
quietly all
holds 'files of lib are gone' assets.o image.o one.o queries.o three.o
rm queries/second.sql
quietly all
prints 'a query is gone' '1 queries, sort 1'
idle 'after files are gone'
mv cmd/main.c cmd/old.c
sed 's/sort/order/' cmd/old.c >cmd/new.c
rm cmd/old.c
quietly all
prints 'a file of cmd is gone' '1 queries, order 1'
FLAGS=-DSORT=2
quietly all
prints 'other flags' '1 queries, order 2'
idle 'after other flags'
cp lib/room/one.c tests/unit/test_one.c
sed -i 's/one/a_test/' tests/unit/test_one.c
quietly build/release/tests/unit/test_one.o
idle 'after a test, which has flags of its own'
quietly all SAN=-DSAN
grep -q 'cc lib/room/one.c' log || complain 'another SAN: nothing is built'
quietly all
# shellcheck disable=SC2016 # a script
printf '#!/bin/sh\necho "$*" >>../compiled\nexec cc "$@"\n' >../own-cc
chmod +x ../own-cc
quietly all CC=../own-cc
grep -q lib/room/one.c ../compiled || complain 'another compiler: nothing is built'
quietly all

# The program of the build that was asked for.
FLAGS=-DSORT=3
quietly B=build/x build/memtool
prints 'another B' '1 queries, order 3'
quietly B="$PWD/away" build/memtool
[ "$(readlink build/memtool)" = "$PWD/away/memtool" ] || complain "a build elsewhere: $(ls -l build/memtool)"
FLAGS=-DSORT=2
quietly all
prints 'the first B again' '1 queries, order 2'

# Whoever installs and wherever, others can read it; and it goes again.
dest="$PWD/dest dir"
(umask 077 && quietly install DESTDIR="$dest" PREFIX='/opt/my tools') || exit 1
prints 'installed' '1 queries, order 2' "./dest?dir/opt/my?tools/bin/memtool"
(cd "$dest/opt/my tools" && find . -type f -printf '%m %P\n' | sort -k2) >installed
cat >want <<'END'
755 bin/memtool
755 lib/memtool/malloc.so
644 lib/memtool/torch/sitecustomize.py
644 share/bash-completion/completions/memtool
644 share/fish/vendor_completions.d/memtool.fish
644 share/man/man1/memtool.1
644 share/zsh/site-functions/_memtool
END
diff want installed || complain 'installed (< wanted, > found)'
closed=$(find "$dest" -mindepth 1 -type d ! -perm 755)
[ -z "$closed" ] || complain "folders that others cannot enter: $closed"
grep -q 'completion for zsh' "$dest/opt/my tools/share/zsh/site-functions/_memtool" || complain 'completion'
touch "$dest/opt/my tools/bin/other"
quietly uninstall DESTDIR="$dest" PREFIX='/opt/my tools'
left=$(cd "$dest" && find . -type f)
[ "$left" = './opt/my tools/bin/other' ] || complain "uninstall leaves or takes: $left"
quietly help
grep -q '^  make check ' log || complain 'help'
complained ""
