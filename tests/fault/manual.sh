#!/bin/sh
# The manual pages: every command has one, and the examples in docs/man/*.mdoc print what the pages
# say. UPDATE=1 writes into the pages what they print now (then review the diff).
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)

# A page with the output of its examples as it is now. Examples are the lines "$ COMMAND" between .Bd
# and .Ed; what follows one is its standard output.
with_output() { # PAGE
    inside=
    while IFS= read -r line; do
        case $inside:$line in
        :.Bd*) inside=1 ;;
        1:.Ed) inside= ;;
        1:"\$ "*)
            printf '%s\n' "$line"
            (eval "${line#\$ }") 2>/dev/null </dev/null | sed "s/\\\\/\\\\e/g; s/^[.']/\\\\\\&&/"
            continue
            ;;
        1:*) continue ;;
        esac
        printf '%s\n' "$line"
    done <"$1"
}

mkdir bin
ln -s "$MEMTOOL" bin/memtool
PATH=$PWD/bin:$PATH
export LC_ALL=C.UTF-8
commands=$("$MEMTOOL" help --man | sed -n 's/^\.It Xr memtool-\([a-z]*\) 1$/\1/p')
[ -n "$commands" ] || complain "memtool help --man names no commands"
for name in '' $commands; do
    page=$root/docs/man/memtool${name:+-$name}.mdoc
    [ -f "$page" ] || { complain "there is no $page; cmd/cmd.h says what belongs into it"; continue; }
    mkdir "work-$name"
    cd "work-$name" || exit 1
    ln -s "$SAMPLES" samples
    with_output "$page" >now
    [ "${UPDATE-}" != 1 ] || cp now "$page"
    grep -q '^\$ memtool' now || complain "$page: no example"
    diff -u --label "$page" --label now "$page" now || complain "$page: the examples print something else"
    cd ..
done
complained ""
