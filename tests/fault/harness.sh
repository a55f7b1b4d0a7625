#!/bin/sh
# The test runner itself, on a small tree of programs that pass, fail, are skipped, say nothing and die:
# each must be counted as what it is, and nothing that was to run may be missed.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
root=$(dirname "$SAMPLES")

mkdir -p tree/tests/golden tree/tests/fault tree/tests/fuzz tree/tests/matrix tree/tests/unit \
    tree/build/tests/unit tree/samples
cp "$root/tests/run.sh" tree/tests
cp "$root/tests/golden/run.sh" tree/tests/golden

program() { # FILE: written from standard input
    cat >"tree/$1" && chmod +x "tree/$1"
}
unit() { # NAME
    touch "tree/tests/unit/test_$1.c"
    program "build/tests/unit/test_$1"
}
golden() { # NAME EXPECTED
    mkdir "tree/tests/golden/$1"
    cat >"tree/tests/golden/$1/cmd"
    printf '%s\n' "$2" >"tree/tests/golden/$1/stdout"
}
# Ends the shell that waits for the test and would write its result.
# shellcheck disable=SC2016 # a text
kill_waiting='sh_of() { sed "s/.*) . \([0-9]*\) .*/\1/" "/proc/$1/stat"; }
timeout_pid=$PPID
kill -9 "$(sh_of "$timeout_pid")"'

expect() { # WHAT LAST-LINE EXIT: what the runner must say of the tree
    sh tree/tests/run.sh build >out 2>&1
    status=$?
    [ "$(tail -n 1 out)" = "$2" ] || complain "$1: want '$2', got: $(cat out)"
    [ $status = "$3" ] || complain "$1: exit $status, want $3"
}
said() { # WHAT: a line of the runner
    grep -qF -e "$1" out || complain "not said: $1"
}

# Everything passes or says why not.
echo 'exit 0' >tree/tests/fault/good.sh
echo 'raise ValueError("no test")' >tree/tests/matrix/helper.py
echo 'exit 77' >tree/tests/fault/not_here.sh
printf 'print("skip a: no torch")\nprint("more")\nprint("2 passed, 0 failed, 1 skipped")\n' >tree/tests/matrix/test_good.py
echo 'print("no such data"); raise SystemExit(77)' >tree/tests/matrix/test_not_here.py
printf '#!/bin/sh\nprintf "1..2\\nok 1\\nok 2\\n"\n' | unit good
echo 'echo hello' | golden good hello
expect 'all pass' '6 passed, 0 failed, 3 skipped' 0
said 'ok    matrix test_good: 2 passed, 1 skipped'
said '    skip a: no torch'
said 'ok    matrix test_not_here: 0 passed, 1 skipped'
said '    no such data'
said 'ok    golden 1 passed'

# What a matrix may rely on: an empty folder, the program, the samples.
cat >tree/tests/matrix/test_good.py <<'END'
import os
assert os.listdir(".") == [], "the folder is not empty"
assert os.path.isabs(os.environ["MEMTOOL"]) and os.environ["MEMTOOL"].endswith("build/memtool")
assert os.path.isdir(os.environ["SAMPLES"]) and not os.listdir(os.environ["HOME"])
assert "SECRET" not in os.environ
print("3 passed, 0 failed")
END
SECRET=1 expect 'surroundings of a matrix' '7 passed, 0 failed, 2 skipped' 0

# Each way to fail counts, and none stops the others.
echo 'exit 3' >tree/tests/fault/bad.sh
printf "%s\n" "$kill_waiting" >tree/tests/fault/dies.sh
echo 'print("1 passed, 2 failed"); raise SystemExit(1)' >tree/tests/matrix/test_bad.py
echo 'print("4 passed, 0 failed"); raise SystemExit(1)' >tree/tests/matrix/test_bad_exit.py
echo 'print("4 passed, 0 failed"); print("and more")' >tree/tests/matrix/test_no_counts.py
echo 'print("0 passed, 0 failed")' >tree/tests/matrix/test_nothing.py
echo 'raise ValueError' >tree/tests/matrix/test_raises.py
printf '#!/bin/sh\nprintf "1..3\\nok 1\\n"\n' | unit cut
touch tree/tests/fuzz/fuzz_missing.c
echo 'echo other' | golden bad hello
printf "%s\n" "$kill_waiting" | golden dies ''
# Two scripts; 2 + 1 + 1 + 1 + 1 of the matrices (1 + 4 pass); 2 lost unit tests (1 passes); a
# missing program; two golden cases.
expect 'all ways to fail' '13 passed, 13 failed, 2 skipped' 1
said 'FAIL  fault  dies: was ended before it left a result'
said 'FAIL dies: was ended before it left a result'
said 'FAIL  matrix test_bad: 2 of 3 failed (exit 1)'
said 'FAIL  golden 1 passed, 2 failed'
said 'FAIL  unit   test_cut: 2 of 3 failed (exit 0)'

# The scripts beside this one, with programs that do nothing: none of them may pass that tests memtool.
script() { # NAME PROGRAM: runs it in an empty folder; its log is the file log
    rm -rf script && mkdir script
    (cd script && MEMTOOL=$2 DATA=/nowhere timeout 60 sh "$root/tests/fault/$1.sh") >log 2>&1
}
printf '#!/bin/sh\n' | program silent
printf '#!/bin/sh\nexit 2\n' | program failing
# One that does all but answer questions.
cat <<'END' | program unanswering
#!/bin/sh
[ "$1" != query ] || exit 2
seq 30
END
for file in "$root"/tests/fault/*.sh; do
    name=$(basename "$file" .sh)
    case $name in deps | harness | lint | makefile) continue ;; esac
    for what in silent failing; do
        script "$name" "$PWD/tree/$what" && complain "$name passes with a program that is $what"
    done
done
for file in "$root"/tests/matrix/test_*.py; do
    case $file in *_recipes.py) continue ;; esac # records with PyTorch first, which takes minutes
    rm -rf script && mkdir script
    (cd script && MEMTOOL=$PWD/../tree/failing timeout 60 python3 -B "$file") >log 2>&1 &&
        complain "$(basename "$file") passes with a program that is failing"
done
for name in invariants snapshot_samples shuffled scopes; do
    script $name "$PWD/tree/unanswering" && complain "$name passes without an answer to its questions"
    sed -n "s/^none '\([^']*\)' .*/\1/p" "$root/tests/fault/$name.sh" >questions
    while read -r question; do
        grep -qF "FAIL $question" log || complain "$name does not miss the answer to '$question'"
    done <questions
done

complained ""
