#!/bin/sh
# .ci/deps, with an apt-get that only pretends: what it asks for where clang, and what belongs to it, is
# missing, that it looks again at what it has installed, and that it stops where that does not help.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
root=$(dirname "$SAMPLES")
command -v pkg-config >/dev/null 2>&1 || { echo "skipped: no pkg-config"; exit 77; }
mkdir bin
ln -s /usr/bin/* bin
rm -f bin/clang bin/apt-get bin/id bin/zsh

tool() { # NAME: a program in bin
    cat >"bin/$1" && chmod +x "bin/$1"
}
deps() { # GROUP...
    : >installed
    # The groups' own names end with the status.
    PATH=$PWD/bin INSTALLED=$PWD/installed BIN=$PWD/bin sh "$root/.ci/deps" "$@" >said 2>&1
}
expect() { # WHAT PACKAGES
    [ "$(tr '\n' ' ' <installed)" = "$2" ] || complain "$1: '$(tr '\n' ' ' <installed)', not '$2': $(cat said)"
}

echo 'echo 0' | tool id
cat <<'END' | tool apt-get
[ "$1" != update ] || exit 0
for package; do
    case $package in
    -* | install) ;;
    clang)
        echo $package >>"$INSTALLED"
        cat >"$BIN/clang" <<'CLANG'
[ "$1" = -dumpversion ] && echo 14.0.6 && exit
[ -e "$BIN/runtime" ]
CLANG
        chmod +x "$BIN/clang"
        ;;
    libclang-rt-14-dev) echo $package >>"$INSTALLED" && touch "$BIN/runtime" ;;
    *) echo $package >>"$INSTALLED" ;;
    esac
done
END
deps fuzz || complain "fuzz: $(cat said)"
expect 'clang, then what belongs to it' 'clang libclang-rt-14-dev '
deps fuzz || complain "fuzz again: $(cat said)"
expect 'nothing is missing' ''
rm bin/runtime
deps fuzz || complain "the runtime alone: $(cat said)"
expect 'the runtime alone' 'libclang-rt-14-dev '

# A package that does not bring what it is installed for.
deps check && complain 'zsh is installed and not there, and that is no failure'
grep -q 'installed, but not found:.* zsh' said || complain "zsh: $(cat said)"
deps nonsense && complain 'an unknown group'
complained ""
