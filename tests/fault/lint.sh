#!/bin/sh
# What `make lint` must see, on a small tree of offences: in folders below folders, and also where its
# own tools are missing.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
root=$(dirname "$SAMPLES")
mkdir -p tree/tests tree/.ci tree/samples tree/cmd/room tree/formats tree/lib/run tree/lib/base tree/build/man tree/build/completion
cp "$root/tests/lint.sh" tree/tests
cp "$root/.clang-format" tree
cp "$root/.ci/run" "$root/.ci/deps" tree/.ci

file() { # PATH: of standard input
    cat >"tree/$1"
}
lint() { # runs it; leaves what it says in the file said
    sh tree/tests/lint.sh build "${CC-cc}" -std=c11 -D_GNU_SOURCE -I. -Werror -Wall >said 2>&1
}
said() { # TEXT
    grep -qF -e "$1" said || complain "not said: $1"
}

echo 'int mt_good(void);' | file lib/run/good.h
printf '#include "lib/run/good.h"\n\nint mt_good(void)\n{\n    return 0;\n}\n' | file lib/run/good.c
printf '#include "lib/run/good.h"\n\nint main(void)\n{\n    return mt_good();\n}\n' | file cmd/room/main.c
echo 'extern int mt_fine;' | file lib/base/fine.h
printf '#include "lib/base/fine.h"\n' | file formats/reader.c
printf '.Dd January 1, 2026\n.Dt MEMTOOL 1\n.Os\n.Sh NAME\n.Nm memtool\n.Nd memory\n' | file build/man/memtool.1
echo 'complete -W table memtool' | file build/completion/bash

for room in formats:reader lib/run:good lib/base:fine; do
    echo "\`${room#*:}\`: what is in it" | file "${room%:*}/README.md"
done

# Without the tools nothing was looked at: said of each, and no success.
mkdir bin
ln -s /usr/bin/* bin
rm -f bin/clang-format bin/shellcheck bin/mandoc
PATH=$PWD/bin lint && complain "passes without its tools: $(cat said)"
for tool in clang-format shellcheck mandoc; do said "$tool"; done
[ "$(grep -c 'a tool is missing' said)" = 3 ] || complain "missing tools: $(cat said)"
CC=no-such-cc lint && complain "passes without a compiler"
said no-such-cc

# A clean tree has no complaints but, where this machine is without them, those of missing tools.
lint
grep -v 'a tool is missing\|^    \(clang-format\|shellcheck\|mandoc\)$\|nothing found' said && complain "a clean tree"

printf '#include "cmd/cmd.h"\n#include <sqlite3.h>\n' | file lib/run/up.h
printf '#include "../../formats/format.h"\n#include <sqlite3.h>\n' | file lib/base/up.h
printf '#include "../../cmd/cmd.h"\n' | file formats/up.h
printf '#include <sqlite3.h>\n' | file cmd/room/third.h
printf '#include "lib/run/good.h"\n#include <stdio.h>\n\nint mt_good(void)\n{\n    puts("x");\n    return 0;\n}\n' |
    file lib/run/good.c
printf '#ifdef __SSE2__\n#include <stdlib.h>\n#endif\n#include "lib/run/good.h"\n\nint mt_good(void)\n{\n    return abs(1);\n}\n' |
    file lib/base/intel.c
printf '#include "lib/run/good.h"\n\nint mt_good(void)\n{\n%s}\n' "$(seq 90 | sed 's/.*/    ;/')
" | file formats/reader.c
mkdir tree/lib/attic
printf '#include "lib/run/good.h"\n' | file lib/attic/none.c
lint && complain "passes a tree of offences"
said 'lib/run/up.h includes cmd/cmd.h'
said 'lib/base/up.h includes ../../formats/format.h'
said 'lib/base/intel.c includes lib/run/good.h'
said 'lib/attic/none.c: in no room'
said 'formats/up.h includes ../../cmd/cmd.h'
said 'sqlite3.h: lib/base/up.h lib/run/up.h'
said 'cmd/room/third.h sqlite3.h'
said 'lib/run/good.c:     puts("");'
said 'each file compiles without SSE2:'
said 'lib/base/intel.c:8'
said 'formats/reader.c:4: 91 lines'
said '    lib/run/up'
said '    lib/attic/none'
grep -q '    lib/run/good$' said && complain 'a file is named'
complained ""
