#!/bin/sh
# The recipes of docs/ci.md: their shell parts run as they are, in a repository of their own, with a
# `python` that records what the samples hold (tests/matrix/test_recipes.py records with PyTorch).
set -u
doc=$(dirname "$0")/../../docs/ci.md
fail() {
    echo "FAIL $*"
    exit 1
}

# The lines of the fenced block behind the comment of that name.
block() { # NAME
    awk -v mark="<!-- $1 -->" '
        $0 == mark { found = 1; next }
        found && /^```/ { if (inside) exit; inside = 1; next }
        inside' "$doc"
}

# The commands of a workflow: `run: LINE`, `run: |` with what is indented below it, `- LINE` of script.
steps() {
    awk '
        { match($0, /^ */); indent = RLENGTH }
        multi && indent <= multi { multi = 0 }
        multi { print; next }
        /^ *(before_)?script:$/ { script = indent; next }
        script != "" && indent <= script { script = "" }
        script != "" { sub(/^ *- /, ""); print; next }
        /run: \|$/ { multi = indent; next }
        sub(/^ *(- )?run: /, "")'
}

bin=$PWD/bin
mkdir bin project
ln -s "$MEMTOOL" bin/memtool
for tool in sudo make pip; do printf '#!/bin/sh\nexit 0\n' >bin/$tool; done # installing is not tried here
# shellcheck disable=SC2016 # a text
printf '#!/bin/sh\n[ "$1" = clone ] || exec %s "$@"\n' "$(command -v git)" >bin/git
cat >bin/python <<'END'
#!/bin/sh
# A recording of $RECORDS; each a little different in its bytes, as recordings are.
[ "$1 $2 $4" = "profile_train.py --device --out" ] || exit 9
zcat "$SAMPLES/$RECORDS/trace.json.gz" | sed "s/\"schemaVersion\": 1,/&\"torch_version\": \"2.13.0\",\"file\": \"$RECORDS $5\",/" | gzip >"$5"
END
chmod +x bin/sudo bin/make bin/pip bin/git bin/python
PATH=$bin:$PATH
export PATH DEVICE=cpu MEMTOOL_DB=memory.db GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org

# Runs commands as CI does: a shell that ends at the first failure. Log and exit code in log, $code.
try() { # NAME
    rm -f memory.db
    sh -eu commands >log 2>&1
    code=$?
    [ -s commands ] || fail "$1: no commands found in docs/ci.md"
}

cd project || exit 1
git init -q .
mkdir memory
block rules >memory/rules.json
export RECORDS=noleak_steps
block first >commands
try first
[ $code = 0 ] || { cat log; fail "first: exit $code"; }
grep -q '"torch": "2.13.0"' memory/cpu.json || fail "first: no version of torch"
[ "$(git log --format=%s | wc -l)" = 1 ] || fail "first: nothing committed"

for ci in github gitlab; do
    export GITHUB_STEP_SUMMARY="$PWD/$ci-summary.md" RECORDS=noleak_steps
    block $ci | steps >commands
    try $ci
    [ $code = 0 ] || { cat log; fail "$ci, nothing changed: exit $code"; }
    grep -q '^5 rules: 5 passed$' log || { cat log; fail "$ci: not every rule was checked"; }
    export RECORDS=leak_steps
    try $ci
    [ $code = 1 ] || { cat log; fail "$ci, a leak: exit $code"; }
    cmp -s new-cpu.json memory/cpu.json && fail "$ci: the new baseline is the old one"
    export RECORDS=basic
    try $ci
    [ $code = 3 ] || { cat log; fail "$ci, no steps: exit $code"; }
    export RECORDS=leak_steps
    try $ci
    case $ci in
    github)
        grep -q '^::error title=.*aten::clone' log || { cat log; fail "github: no annotation"; }
        grep -q '^| .fail. ' github-summary.md || fail "github: no summary"
        ;;
    gitlab) grep -q '<failure type="max-growth-per-step"' memory.xml || fail "gitlab: no JUnit" ;;
    esac
done

block update >commands
try update
[ $code = 0 ] || { cat log; fail "update: exit $code"; }
grep -q '^+ .*"per_step_b": 644' log || { cat log; fail "update: the change cannot be seen"; }
printf '{"schema": "memtool.rules", "version": 1, "rules": [{"max-peak-growth": 0}]}' >memory/rules.json
block github | steps >commands
try github
[ $code = 0 ] || { cat log; fail "with the new baseline: exit $code"; }
echo ok
