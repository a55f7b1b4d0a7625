#!/bin/sh
# The action in .github/actions/memtool: its steps are run as GitHub runs them, in a repository of their own with a
# baseline in it. What it says of a program that is as before, that leaks, that cannot be judged, of ranks, and where
# nothing can be checked; and that it keeps the report.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
action=$(dirname "$SAMPLES")/.github/actions/memtool
mkdir bin project
ln -s "$MEMTOOL" bin/memtool
PATH=$PWD/bin:$PATH

# What GitHub does with a composite action.
cat >github.py <<'PYTHON'
import os, pathlib, re, shutil, subprocess, sys, yaml
folder, given = pathlib.Path(sys.argv[1]), dict(a.split("=", 1) for a in sys.argv[2:])
action = yaml.safe_load((folder / "action.yml").read_text())
for name, what in action["inputs"].items():
    if what.get("required") and name not in given:
        sys.exit(f"the input {name} is required")
unknown = set(given) - set(action["inputs"])
assert not unknown, unknown
values = {"inputs." + n: given.get(n, w.get("default", "")) for n, w in action["inputs"].items()}
temp = os.path.abspath("../temp")
for name in ("temp", "artifact"):
    shutil.rmtree(f"../{name}", ignore_errors=True)
    os.mkdir(f"../{name}")
values["runner.temp"] = temp
files = {n: f"{temp}/{n}" for n in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
for f in files.values():
    open(f, "w").close()

def fill(text):
    return re.sub(r"\$\{\{ *(.+?) *\}\}", lambda m: values[m[1]], str(text))

status = 0
for step in action["runs"]["steps"]:
    if status and step.get("if") != "always()":
        continue
    if "uses" in step:
        assert step["uses"].startswith("actions/upload-artifact@")
        if os.path.isdir(fill(step["with"]["path"])):
            shutil.copytree(fill(step["with"]["path"]), "../artifact/" + fill(step["with"]["name"]))
        continue
    assert step["shell"] == "bash" and "${{" not in step["run"], "inputs never become part of a script"
    env = {**os.environ, **files, "GITHUB_ACTION_PATH": str(folder), "RUNNER_TEMP": temp}
    env["PATH"] = ":".join(open(files["GITHUB_PATH"]).read().split()) + ":" + env["PATH"]
    env.update({k: fill(v) for k, v in step.get("env", {}).items()})
    sys.stdout.flush()
    status = status or subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], env=env).returncode
outputs = dict(line.split("=", 1) for line in open(files["GITHUB_OUTPUT"]).read().splitlines())
for name, what in action["outputs"].items():
    values["steps.check.outputs." + name] = outputs.get(name, "")
    print(f"output {name}={fill(what['value'])}")
sys.exit(status)
PYTHON

# docs/ci.md has each input, and no other.
cat >documented.py <<'PYTHON'
import re, sys, yaml
inputs = set(yaml.safe_load(open(sys.argv[1] + "/action.yml"))["inputs"])
page = open(sys.argv[2]).read()
workflow = yaml.safe_load(re.search(r"<!-- action -->\n```yaml\n(.*?)```", page, re.S)[1])
used = set(workflow["jobs"]["memory"]["steps"][-1]["with"])
table = re.search(r"^\| input \|.*?\n\n", page, re.S | re.M)[0].split("\n")[2:-2]
named = {name for row in table for name in re.findall(r"`(\w+)`", row.split("|")[1])}
if named != inputs or not used <= inputs:
    sys.exit(f"of the inputs {inputs ^ named}, {used - inputs} differ")
PYTHON
python3 -B documented.py "$action" "$(dirname "$SAMPLES")/docs/ci.md" >log 2>&1 || complain "docs/ci.md: $(cat log)"

# try EXIT VERDICT INPUT=VALUE...: runs the action; what it printed is ../log, its summary ../summary.
try() {
    want=$1 verdict=$2
    shift 2
    what=$*
    python3 -B ../github.py "$action" "$@" >../log 2>&1
    code=$?
    cp ../temp/GITHUB_STEP_SUMMARY ../summary
    [ $code = "$want" ] || complain "$what: exit $code, not $want: $(cat ../log)"
    grep -qx "output verdict=$verdict" ../log || complain "$what: $(grep '^output' ../log)"
}
has() { # FILE REGEX
    grep -q -e "$2" "../$1" || complain "$what: no '$2' in its $1: $(cat "../$1")"
}
kept() { # FILE...: in the artefact
    for file; do [ -s "../artifact/memory/$file" ] || complain "$what: $file was not kept"; done
}
# A recording as of another day: other bytes, the same figures.
again() { # SAMPLE FILE
    zcat "$SAMPLES/$1/trace.json.gz" | sed "s/\"schemaVersion\": 1,/&\"file\": \"$2\",/" | gzip >"$2"
}

cd project || exit 1
again noleak_steps first.json.gz
try 2 error recordings=first.json.gz baseline=memory/cpu.json options='--max-peak-growth 5%'
has log '^::error title=memtool::There is no baseline .memory/cpu.json.'
has summary 'Nothing was checked'
kept baseline.json report.html
[ $fails = 0 ] || { complained "the first run"; exit 1; }
mkdir memory
cp ../artifact/memory/baseline.json memory/cpu.json

# As before; and a leak.
again noleak_steps 'second 1.json.gz'
again noleak_steps third.json.gz
rules='--max-peak-growth 5% --max-growth-per-step 0'
try 0 pass "recordings=second *.gz
third*.gz" baseline=memory/cpu.json "options=$rules"
has log '^2 rules: 2 passed$'
has summary '^| .pass. '
has summary '^### What was alive at the peak$'
has summary '^| AT PEAK |'
kept baseline.json report.html memory.db
again leak_steps leaky.json.gz
try 1 fail recordings=leaky.json.gz baseline=memory/cpu.json "options=$rules"
has log '^::error title=memtool%3A max-growth-per-step 0::.*aten::clone'
has summary '^| .fail. .*aten::clone'
kept report.html memory.db
grep -q 'aten::clone' ../artifact/memory/report.html || complain "report.html is of another run"

# An annotation stands at the line, in the file below the repository.
mkdir src
echo '# the program' >src/record.py
try 1 fail recordings="$SAMPLES/cnn_stack/trace.json.gz" options='--max-peak 1MiB' device=cpu
has log '^::error file=src/record.py,line=60,title=memtool'

# What nobody can tell.
try 3 inconclusive recordings="$SAMPLES/basic/trace.json.gz" options='--max-growth-per-step 0'
has log '^::warning title=memtool'
try 0 inconclusive recordings="$SAMPLES/basic/trace.json.gz" options='--max-growth-per-step 0' inconclusive=pass

# Each rank by itself, by rules in a file.
echo '{"schema": "memtool.rules", "version": 1, "rules": [{"max-peak": "2MiB"}]}' >rules.json
try 1 fail "recordings=$SAMPLES/ranks/*.json.gz" each=true rules=rules.json artifact=memory
has log '^1 rule for each of 4 runs: 1 failed, 3 passed$'
has summary '^### The ranks$'
kept report.html

# What cannot be read, and what is no recording.
try 2 error recordings='none-*.gz'
has log "^::error title=memtool::There is no recording 'none-\*.gz'"
echo '{' >cut.json
try 2 error recordings=cut.json options='--max-peak 1GiB'
has log '^::error .*cannot be read'
# shellcheck disable=SC2016 # a name that would be a command
try 2 error 'recordings=$(touch oops)' 'options=--max-peak 1%'
try 2 error recordings=first.json.gz options=--nonsense
has log '^::error .*memtool check says'
try 2 error recordings=first.json.gz inconclusive=maybe
try 2 '' recordings=first.json.gz package=memtool.zip

# Without a memtool it is built, of the repository that the action is in.
rm ../bin/memtool
cat >../bin/make <<'MAKE'
#!/bin/sh
echo "$*" >>../made
for word; do
    case $word in
    PREFIX=*) mkdir -p "${word#*=}/bin" && ln -s "$MEMTOOL" "${word#*=}/bin/memtool" ;;
    esac
done
MAKE
chmod +x ../bin/make
if ! command -v memtool >/dev/null; then
    try 0 pass recordings=first.json.gz options='--max-peak 1GiB'
    grep -q "^-C $(cd "$action/../../.." && pwd) .*install" ../made || complain "built: $(cat ../made)"
fi
[ ! -e oops ] || complain "a name became a command"
complained "$(grep -c '^ *try [0-9]' "$0") runs of the action"
