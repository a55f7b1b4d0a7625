# What a script in tests/fault says of what fails: `. "$(dirname "$0")/../complain.sh"` at its head,
# `complained "N runs"` as its last line.
# shellcheck shell=sh
fails=0

complain() { # WHAT
    echo "FAIL $*"
    fails=$((fails + 1))
}

complained() { # WHAT-WAS-SEEN, may be empty
    echo "$1${1:+, }$fails complaints"
    [ $fails = 0 ]
}
