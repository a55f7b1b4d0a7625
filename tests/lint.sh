#!/bin/sh
# What `make lint` checks: `sh tests/lint.sh BUILD CC FLAGS...`, with the compiler and flags that were used
# for that build. A tool that is missing is a complaint: what nobody looked at is not clean.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
shift
complaints=$(mktemp)
trap 'rm -f "$complaints"' EXIT

# Notes a complaint with what was found (standard input), unless nothing was found.
complain_if_any() { # WHAT
    found=$(cat)
    [ -z "$found" ] || printf 'lint: %s\n%s\n' "$1" "$found" | sed '2,$s/^/    /' >>"$complaints"
}

have() { # TOOL
    command -v "$1" >/dev/null 2>&1 && return
    echo "$1" | complain_if_any "a tool is missing ('.ci/deps lint' installs it):"
    false
}

sources() { # FOLDER...
    find "$@" -name '*.[ch]' | sort
}

# A C file without comments and string contents: "FILE: line of code".
code() {
    for file in "$@"; do
        "$cc" -fpreprocessed -dD -E -P "$file" 2>/dev/null |
            sed -E 's/"(\\.|[^"\\])*"/""/g' | sed "s|^|$file: |"
    done
}

have "$1" || { cat "$complaints" && exit 1; }
cc=$1

# shellcheck disable=SC2046 # file names without blanks
! have clang-format || clang-format --dry-run -Werror $(sources cmd lib formats tests) 2>&1 |
    grep -E '^[^ ]+:[0-9]+:[0-9]+:' | cut -d: -f1,2 | sort -u -t: -k1,1 |
    complain_if_any "not formatted (run 'make format'), first lines:"

# Rooms, each with the rooms it may include: all arrows point upward in this list.
rooms='
lib/base
lib/input    lib/base
lib/model    lib/base
lib/build    lib/base lib/input lib/model
lib/db       lib/base
lib/store    lib/base lib/model lib/db
lib/record   lib/base lib/model lib/db lib/store
lib/run      lib/base lib/model lib/db
lib/usage    lib/base lib/model lib/run
lib/analysis lib/base lib/input lib/model lib/run lib/usage
lib/advice   lib/base lib/model lib/run lib/usage lib/analysis
lib/export   lib/base lib/model lib/run lib/usage
lib/compat   lib/base lib/run
lib/render   lib/base lib/model lib/db lib/run lib/usage
lib/flame    lib/base lib/model lib/export lib/render
lib/page     lib/base lib/model lib/run lib/usage lib/export lib/render lib/flame
formats      lib/base lib/input lib/model
'
sources lib formats | xargs grep -HoE '^ *# *include "[^"]+"' | sed -E 's/:[^"]*"/ /; s/"$//' | awk -v rooms="$rooms" '
    BEGIN {
        n = split(rooms, lines, "\n")
        for (i = 1; i <= n; i++) {
            m = split(lines[i], w, " ")
            for (k = 1; k <= m; k++) may[w[1], w[k]] = 1
            if (m) known[w[1]] = may[w[1], "gen"] = 1
        }
    }
    {
        room = $1; sub("/[^/]*$", "", room)
        from = $2; sub("/?[^/]*$", "", from)
        if (!(room in known)) print $1 ": in no room"
        else if (!((room, from) in may)) print $1 " includes " $2
    }' | sort -u |
    complain_if_any "a room includes only what stands beside it in the table of tests/lint.sh:"

# The README of a folder names all that is in it: a file, what its name begins with, or a pattern.
for folder in cmd formats lib/*; do
    # shellcheck disable=SC2016 # no expansion is meant
    named=$(grep -oE '`[a-z0-9_*]+(\.[ch])?`' "$folder/README.md" 2>/dev/null | tr -d '`' | sed 's/\.[ch]$//')
    set -f
    for file in $(cd "$folder" && find . -maxdepth 1 -name '*.[ch]' | sed 's|^\./||; s/\.[ch]$//' | sort -u); do
        there=
        [ "$folder" = cmd ] && [ -f "docs/man/memtool-${file%%_*}.mdoc" ] && there=1
        for name in $named; do
            # shellcheck disable=SC2254 # patterns are meant
            case $file in $name | ${name}_*) there=1 ;; esac
        done
        [ -n "$there" ] || echo "$folder/$file"
    done
    set +f
done | complain_if_any "not named in the README of its folder:"

# Any header in <> that is not one of these belongs to a third party.
standard='(assert|ctype|dirent|errno|fcntl|fenv|float|glob|inttypes|limits|locale|malloc|math|poll|pthread'
standard=$standard'|pwd|regex|sched|setjmp|signal|spawn|stdalign|stdarg|stdatomic|stdbool|stddef'
standard=$standard'|stdint|stdio|stdlib|string|strings|termios|time|unistd|wchar|wctype|getopt|fnmatch'
standard=$standard'|libgen|langinfo|immintrin|emmintrin|tmmintrin|arm_neon|endian|byteswap'
standard=$standard'|(sys|linux)/[a-z_0-9]+)\.h'
third_party() { # FOLDER...: "FILE HEADER" of each third-party header a file includes
    sources "$@" | xargs grep -HoE '^ *# *include *<[^>]+>' | sed -E 's/:[^<]*</ /; s/>//' |
        grep -vE " $standard\$"
}
third_party lib | grep -v '^lib/base/gzip.c isa-l/' | sort -k2 | # it writes what lib/input reads
    awk '{ n[$2]++; files[$2] = files[$2] " " $1 } END { for (h in n) if (n[h] > 1) print h ":" files[h] }' |
    complain_if_any "a third-party header belongs to one file of lib/:"
third_party cmd formats |
    complain_if_any "third-party headers belong to lib/:"

for file in $(sources lib formats); do
    case $file in lib/render/term.c | lib/base/mem.c) ;; *) code "$file" ;; esac
done | grep -E '(^|[^A-Za-z_0-9])((printf|vprintf|puts|putchar|perror|exit|_exit|_Exit|abort|err|errx|warn|warnx)\(|stdout|stderr)' |
    complain_if_any "lib/ and formats/ neither print nor end the process (lib/render/term.c and lib/base/mem.c may):"

for header in $(sources cmd lib formats tests | grep '\.h$'); do
    printf '#include "%s"\nextern int mt_unused;\n' "$header" | "$@" -fsyntax-only -xc - 2>&1
done | complain_if_any "each header compiles alone:"

# Other processors have no SSE2: what stands in for it compiles, with the headers it needs.
sources cmd lib formats | grep '\.c$' | xargs -P "$(nproc)" -n 16 "$@" -U__SSE2__ -fsyntax-only 2>&1 |
    complain_if_any "each file compiles without SSE2:"

# shellcheck disable=SC2046
awk '
    FNR == 1 { start = 0 }
    /^\{/ { start = FNR }
    /^\}/ { if (start && FNR - start > 80) print FILENAME ":" start ": " FNR - start " lines"; start = 0 }
' $(sources cmd lib formats tests) | complain_if_any "no function over 80 lines:"

if have shellcheck; then
    # shellcheck disable=SC2046
    shellcheck -x $(grep -rlx '#!/bin/sh' .ci .packages .github 2>/dev/null) \
        $(find tests samples -name '*.sh') |
        complain_if_any "shellcheck:"
    shellcheck -s bash "$build/completion/bash" | complain_if_any "shellcheck of completion for bash:"
fi

! have mandoc || mandoc -Tlint -Wwarning "$build"/man/*.1 2>&1 | complain_if_any "manual pages:"

if [ -s "$complaints" ]; then
    cat "$complaints"
    exit 1
fi
echo "lint: nothing found"
