"""Every recipe of README.md and docs: what they record, and what memtool says of it.

A recipe is a fenced block behind a comment with its name, `<!-- recipe: NAME -->`: Python, and shell lines that go
with it. Each is run with PyTorch, with what is the user's (`train.py`) made up here, and its shell lines after it; then
the run must have the steps, records and names that the text promises. The workflows of docs/ci.md are run step by
step with the program that they record (tests/fault/ci_recipes.sh has more of them, without PyTorch).

PyTorch is looked for where `python3` is, in venv/ of this repository (samples/README.md makes it) and in one beside
it; without it what needs it is skipped. Without a GPU a recipe for GPUs is run with stand-ins that take what the real functions
are declared to take. The last line counts the recipes: "N passed, N failed, N skipped".

    MEMTOOL=build/debug/memtool python3 tests/matrix/test_recipes.py [NAME...]
"""

import concurrent.futures
import glob
import json
import os
import re
import signal
import subprocess
import sys

try:
    import yaml
except ImportError:
    yaml = None

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
MEMTOOL = os.path.abspath(os.environ["MEMTOOL"])
SAMPLES = os.path.join(ROOT, "samples")
PYTHONS = ("python3", os.path.join(ROOT, "venv/bin/python"), os.path.join(ROOT, "../venv/bin/python"))

# ---- the recipes ----

BLOCK = re.compile(r"^(?:<!-- (?:recipe: )?(\w+) -->\n)?```(\w*)\n(.*?)^```$", re.M | re.S)
# A line of a program for PyTorch that is in no marked block.
TORCH_LINE = re.compile(r"^\s*(?:import torch|from torch|(?:with )?torch\.\w|with profile\(|prof\.\w+\()", re.M)


def documents():
    for pattern in ("README.md", "docs/*.md", "docs/formats/*.md", "docs/man/*.mdoc"):
        yield from sorted(glob.glob(os.path.join(ROOT, pattern)))


def read_blocks(wrong):
    """{(name, language): text}; what is in a document and no recipe is wrong."""
    blocks = {}
    for path in documents():
        with open(path) as file:
            text = file.read()
        for name, language, body in BLOCK.findall(text):
            if not name or (name, language) in blocks:
                wrong.append(f"{path}: a block without a name of its own: {body[:80]!r}")
            blocks[name, language] = body
        loose = TORCH_LINE.search(BLOCK.sub("", text))
        if loose:
            wrong.append(f"{path}: {loose.group()!r} is in no recipe")
    return blocks


# ---- what is the user's ----

MODEL = '''
import os
import torch
from torch import nn

torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.relu = nn.Linear(32, 64), nn.Linear(64, 32), nn.ReLU()

    def forward(self, x):
        return x + self.b(self.relu(self.a(x)))
'''
TRAIN = (
    MODEL
    + '''
device = os.environ.get("DEVICE", "cpu")
model = Net().to(device)
optimizer = torch.optim.Adam(model.parameters())
batches = [torch.rand(16, 32, device=device) for _ in range(int(os.environ.get("BATCHES", "12")))]


def train_step(batch):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''
)
TRAIN_RANKS = (
    TRAIN
    + '''
import torch.distributed as dist

dist.init_process_group("gloo")
model = nn.parallel.DistributedDataParallel(model)
'''
)
TRAIN_CI = (
    MODEL
    + '''
kept = []


def make_model(device):
    model = Net().to(device)
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def make_batches(device):
    return [torch.rand(16, 32, device=device) for _ in range(12)]


def train_step(model, optimizer, batch):
    out = model(batch)
    optimizer.zero_grad()
    out.square().mean().backward()
    optimizer.step()
    if os.environ.get("LEAK"):
        kept.append(out.detach())
'''
)
PASTED = "from train import batches, model, train_step\n"
# Where there is no GPU: the recorder's functions, which take what the real ones take.
NO_GPU = '''
import inspect, shutil, torch

def stand_in(real, act):
    declared = inspect.signature(real)
    return lambda *args, **named: act(declared.bind(*args, **named).arguments)

if not torch.cuda.is_available():
    memory = torch.cuda.memory
    memory._record_memory_history = stand_in(memory._record_memory_history, lambda given: None)
    memory._dump_snapshot = stand_in(memory._dump_snapshot, lambda given: shutil.copy(SAMPLE, given["filename"]))
'''


class Recipe:
    """One recipe at work, in a folder of its own."""

    def __init__(self, name, blocks, python):
        self.name, self.blocks, self.python = name, blocks, python
        self.wrong, self.folder = [], os.path.abspath(name)
        os.makedirs(os.path.join(self.folder, "bin"), exist_ok=True)
        self.environment = {**os.environ, "MEMTOOL_DB": "memory.db", "OMP_NUM_THREADS": "1"}
        self.environment["PATH"] = os.pathsep.join((self.folder + "/bin", os.path.dirname(python), os.environ["PATH"]))
        self.command("memtool", f'exec "{MEMTOOL}" "$@"')
        self.command("python", f'exec "{python}" "$@"')

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def command(self, name, line):
        self.write("bin/" + name, f"#!/bin/sh\n{line}\n")
        os.chmod(f"{self.folder}/bin/{name}", 0o755)

    def expect(self, ok, *what):
        if not ok:
            self.wrong.append(" ".join(str(word) for word in what))
        return ok

    def run(self, *args, code=0, **environment):
        """Standard output; the exit code must be as expected."""
        environment = {**self.environment, **environment}
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(args, cwd=self.folder, env=environment, start_new_session=True, **pipes) as process:
            try:
                out, err = process.communicate(timeout=200)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # ranks that wait for each other, too
                raise
        said = (out + err)[-3000:]
        self.expect(process.returncode == code, args[-1], "exit", process.returncode, said)
        self.expect("Sanitizer" not in said and "runtime error" not in said, said)
        return out

    def paste(self, prelude=PASTED, train=TRAIN, **environment):
        """The Python part in a program of the user's."""
        self.write("train.py", train)
        self.write("recipe.py", prelude + self.blocks[self.name, "python"])
        return self.run(self.python, "recipe.py", **environment)

    def shell(self, name=None, code=0, **environment):
        return self.run("sh", "-euc", self.blocks[name or self.name, "sh"], code=code, **environment)

    def memtool(self, *args, code=0):
        return self.run(MEMTOOL, *args, code=code)

    def query(self, sql):
        return [tuple(row.values()) for row in json.loads(self.memtool("query", sql, "--format", "json") or '{"rows": []}')["rows"]]

    def expect_steps(self, run, number, marker="ProfilerStep#", first=0):
        steps = self.query(f"SELECT number FROM v_step WHERE run = '{run}' ORDER BY number")
        self.expect(steps == [(n,) for n in range(first, first + number)], run, "steps", steps)
        self.expect(self.query(f"SELECT step_marker FROM run WHERE name = '{run}'") == [(marker,)], run, "no", marker)
        without = self.query(
            f"SELECT number FROM v_step s WHERE run = '{run}' AND NOT EXISTS (SELECT 1 FROM v_alloc a WHERE a.run = s.run"
            " AND a.alloc_ns BETWEEN s.start_ns AND s.end_ns AND a.bytes_b > 0)"
        )
        self.expect(not without, run, "steps without memory records:", without)


def loop(r):
    r.paste()
    r.shell()
    r.expect_steps("loop", 8)
    r.expect("32" in r.memtool("table", "loop", "--by", "shape"), "no shapes")
    os.rename(r.folder + "/trace.json.gz", r.folder + "/whole.json.gz")
    r.paste(BATCHES="6")  # a loop that ends early is recorded as far as it went
    r.expect("1 step at the end left out" in r.memtool("import", "trace.json.gz", "--name", "short"), "no idle step")
    r.expect_steps("short", 6)


def process(r):
    r.write("train.py", TRAIN)
    r.write("program.py", r.blocks["process", "python"])
    r.run(r.python, "program.py")  # not recorded
    r.shell()
    steps = "SELECT number FROM v_step WHERE run = '{}' ORDER BY number"
    found = r.query(steps.format("train"))
    r.expect(found == [(n,) for n in range(12)], "steps", found)
    marks = r.query("SELECT text FROM v_event WHERE run = 'train' AND action = 'mark'")
    r.expect(marks == [("before",), ("after",)], "marks", marks)
    r.write("program.c", r.blocks["process", "c"])
    r.run("cc", "-Wall", "-Werror", "-o", "program", "program.c")
    r.memtool("record", "--name", "in_c", "--", "./program")
    r.run("./program")
    found = r.query(steps.format("in_c"))
    r.expect(found == [(n,) for n in range(8)], "steps in C", found)


def tour(r):
    r.paste()
    r.memtool("import", "trace.json.gz", "--name", "it")
    r.expect_steps("it", 8)
    r.expect("32" in r.memtool("table", "it", "--by", "shape"), "no shapes")
    r.memtool("leaks", "it", "--fail")


def stacks(r):
    r.paste()
    r.shell()
    r.expect_steps("stacks", 4)
    modules = r.memtool("table", "stacks", "--by", "module", "--limit", "0")
    r.expect("nn.Module: Linear_0" in modules, modules)
    r.expect("train_step" in r.memtool("tree", "stacks", "--limit", "0"), "no lines of Python")
    r.expect("[[16, 32]" in r.memtool("table", "stacks", "--by", "shape", "--limit", "0"), "no shapes")


def marker(r):
    r.paste()
    r.shell()
    r.expect_steps("requests", 8, "^request$")
    numbered = r.blocks["marker", "python"].replace('"request"', 'f"ProfilerStep#{n}"')
    numbered = numbered.replace("for batch in batches[:8]", "for n, batch in enumerate(batches[:8])")
    r.blocks = {("marker", "python"): numbered}
    r.paste()
    r.memtool("import", "requests.json.gz", "--name", "numbered")
    r.expect_steps("numbered", 8)


def base(r):
    """The lines of docs/older.md, in the first recorded step; what they count is known here from the shapes."""
    lines = r.blocks["base", "python"].replace("\n", "\n            ")
    around = f'''{PASTED}
import torch
from torch.profiler import profile, schedule
from train import optimizer

with profile(profile_memory=True, schedule=schedule(wait=1, warmup=1, active=5, repeat=1),
             on_trace_ready=lambda prof: prof.export_chrome_trace("warm.json.gz")) as prof:
    for n, batch in enumerate(batches):
        if n == 2:
            {lines}
        train_step(batch)
        prof.step()
'''
    r.blocks = {("base", "python"): around}
    r.paste("")
    r.memtool("import", "warm.json.gz", "--name", "warm")
    r.expect_steps("warm", 5, first=2)
    parameters = 4 * (2 * 32 * 64 + 64 + 32)
    known = r.query("SELECT older_from, start_b FROM device")
    r.expect(known == [("file", 3 * parameters + 4 * 4)], known)


def ranks(r):
    r.write("train.py", TRAIN_RANKS)
    r.write("profile_ranks.py", r.blocks["ranks", "python"])
    r.command("torchrun", f'exec "{r.python}" -m torch.distributed.run "$@"')
    r.shell()
    for run in ("rank0", "rank1"):
        r.expect_steps(run, 8)


def snapshot(r):
    gpu = r.run(r.python, "-c", "import torch; print(torch.cuda.is_available())").strip() == "True"
    stand_ins = NO_GPU.replace("SAMPLE", repr(SAMPLES + "/snapshots/basic.pickle"))
    r.paste(stand_ins + PASTED, DEVICE="cuda" if gpu else "cpu")
    r.shell()
    if gpu:
        r.expect_steps("gpu", 8)


def workflow(r, service, code, **environment):
    """The commands of a workflow as the service runs them: up to the first that fails."""
    environment["DEVICE"] = "cpu"
    document = yaml.safe_load(r.blocks[service, "yaml"])["jobs" if service == "github" else "memory"]
    if service == "github":
        parts = [step["run"] for step in document["memory"]["steps"] if "run" in step]
        r.expect(document["memory"]["env"]["MEMTOOL_DB"] == r.environment["MEMTOOL_DB"], service, "MEMTOOL_DB")
    else:
        parts = ["\n".join(document["before_script"] + document["script"])]
        r.expect(document["variables"]["MEMTOOL_DB"] == r.environment["MEMTOOL_DB"], service, "MEMTOOL_DB")
    r.expect(any("memtool check" in part for part in parts), service, "checks nothing")
    if os.path.exists(r.folder + "/memory.db"):
        os.remove(r.folder + "/memory.db")
    for part in parts:
        last = "memtool check" in part
        out = r.run("bash", "-ec", part, code=code if last else 0, **environment)
        if last:
            return out


def profile_train(r):
    r.write("train.py", TRAIN_CI)
    r.write("profile_train.py", r.blocks["profile_train", "python"])
    for name in ("sudo", "pip", "make"):  # installing is not tried here
        r.command(name, "exit 0")
    r.command("git", '[ "$1" = clone ] || exec "$GIT" "$@"')
    r.environment["GIT"] = subprocess.run(["sh", "-c", "command -v git"], capture_output=True, text=True).stdout.strip()
    for who in ("AUTHOR", "COMMITTER"):
        r.environment.update({f"GIT_{who}_NAME": "t", f"GIT_{who}_EMAIL": "t@example.org"})
    r.run("git", "init", "-q", ".")
    os.mkdir(r.folder + "/memory")
    r.write("memory/rules.json", r.blocks["rules", "json"])
    r.shell("first")
    for n in (1, 2, 3):
        r.expect_steps(f"trace-{n}", 8)
    older = r.query("SELECT run_id FROM note WHERE kind = 'older_unknown'")
    r.expect(not older, "parameters are older than the recording:", older)
    with open(r.folder + "/memory/cpu.json") as file:
        version = json.load(file)["torch"]
    r.expect(version and re.match(r"\d+\.\d+", version), "torch", version)
    if not yaml:
        return "no yaml module for python3: the workflows of docs/ci.md were not run"
    said = workflow(r, "github", 0)
    r.expect("5 rules: 5 passed" in said, "github:", said)
    said = workflow(r, "gitlab", 1, LEAK="1")
    r.expect("growth per step" in said and "FAIL" in said, "gitlab:", said)
    return None


RECIPES = (profile_train, process, ranks, loop, stacks, base, marker, snapshot, tour)


def own_log(r):
    """A program's own log, of Python and of C: five blocks of a step stay, and 1 MiB was alive with them."""
    r.write("log.py", r.blocks["own_log", "python"])
    r.write("log.c", r.blocks["own_log", "c"])
    r.run(r.python, "log.py")
    r.run("cc", "-Wall", "-Wextra", "-Werror", "-o", "log", "log.c")
    r.run(os.path.join(r.folder, "log"))
    for log, site in (("pool.csv", "log.py:33 step"), ("app.csv", "step")):
        r.memtool("import", log, "--name", log)
        figures = r.query(f"SELECT d.alloc_b, d.alloc_n, d.at_end_b, d.at_end_n, d.peak_b FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{log}'")
        r.expect(figures == [((1 << 20) + 40960, 11, 20480, 5, (1 << 20) + 24576)], log, "figures", figures)
        held = r.query(f"SELECT name, self_at_end_b FROM v_node WHERE run = '{log}' AND self_at_end_b > 0")
        r.expect(held == [(site, 20480)], log, "what stays", held)


PROGRAM_C = """#include <stdlib.h>
#include <string.h>
static void *volatile kept[64];
static void step(int n, int leak)
{
    void *p = malloc(65536);
    memset(p, n, 65536);
    if (leak)
        kept[n] = malloc(4096);
    free(p);
}
int main(void)
{
    for (int n = 0; n < 50; n++)
        step(n, *getenv("LEAK"));
    return 0;
}
"""
PROGRAM_RUST = """fn step(kept: &mut Vec<Vec<u8>>, leak: bool) {
    let work = vec![1u8; 65536];
    if leak {
        kept.push(vec![work[7]; 4096]);
    }
}
fn main() {
    let mut kept = Vec::new();
    for _ in 0..50 {
        step(&mut kept, !std::env::var("LEAK").unwrap().is_empty());
    }
    std::mem::forget(kept);
}
"""
PROGRAM_GO = """package app

import (
	"os"
	"testing"
)

var kept [][]byte
var sink []byte

func step(leak bool) {
	sink = make([]byte, 65536)
	if leak {
		kept = append(kept, make([]byte, 4096))
	}
}

func TestSteps(t *testing.T) {
	for n := 0; n < 50; n++ {
		step(os.Getenv("LEAK") != "")
	}
	sink = nil
}
"""


def fails(r, site):
    """The program leaks, in that function: so the recipe's last line says."""
    said = r.shell(code=1, LEAK="1")
    r.expect("FAIL  bytes alive at the end" in said and site in said, "a run that leaks:", said)


def passes(r):
    said = r.shell(LEAK="")
    r.expect("FAIL" not in said and "pass" in said, "a good run:", said)
    os.remove(r.folder + "/memory.db")


def recorded(r, site, path, sample, *tools):
    """Where a tool is not here, or RECORDED is set, what one of them recorded of a program that leaks takes its place. Says so."""
    there = all(subprocess.run(["sh", "-c", f"{tool} --version || {tool} version"], env=r.environment, capture_output=True).returncode == 0 for tool in tools)
    if there and not os.environ.get("RECORDED"):
        passes(r)
        fails(r, site)
        return None
    for tool in tools:
        r.command(tool, f'cp "{SAMPLES}/{sample}" {path}')
    fails(r, "")
    return f"no {' or '.join(tools)}: a recorded file was checked"


def ci_c(r):
    r.write("app.c", PROGRAM_C)
    return recorded(r, "step in main", "app.zst", "heap/heaptrack.zst", "heaptrack")


def ci_rust(r):
    r.write("app.rs", PROGRAM_RUST)
    return recorded(r, "step in ", "app.dhat", "heap/dhat_2k.json", "rustc", "valgrind")


def ci_go(r):
    r.write("app_test.go", PROGRAM_GO)
    r.write("go.mod", "module example.org/app\n\ngo 1.19\n")
    r.environment.update(GOFLAGS="-mod=mod", GOCACHE=r.folder + "/cache", GOPROXY="off")
    return recorded(r, "app.step in example.org/app.TestSteps", "app.pb.gz", "heap/go_heap_1.pb.gz", "go")


def ci_python(r):
    """memray is no package of Debian's: what it recorded of a good program and of one that leaks is checked."""
    wanted = "-m memray run --force --output app.bin app.py"
    r.command("python", f'[ "$*" = "{wanted}" ] || exit 9\ncp "{SAMPLES}/python/memray_1.$([ -n "$LEAK" ] && echo 20 || echo 19).bin" app.bin')
    passes(r)
    fails(r, "remember in")
    return "memray is not run: recorded files were checked"


PROGRAM_STEPS = """
import os, time
fd, kept = int(os.environ["MEMTOOL_FD"]), []
for n in range(40):
    os.write(fd, b"memtool:step %d\\n" % n)
    if os.environ["LEAK"]:
        kept.append(b"x" * (256 << 10))
    time.sleep(.05)
os.write(fd, b"memtool:step end\\n")
"""


def ci_process(r):
    r.write("app.py", PROGRAM_STEPS)
    passes(r)
    said = r.shell(code=1, LEAK="1")
    r.expect("FAIL  rss of process grows" in said, "a run that leaks:", said)


WITHOUT_TORCH = (own_log, ci_c, ci_rust, ci_go, ci_python, ci_process)


# ---- what needs no PyTorch ----


def check_blocks(blocks, wrong):
    """Every block is whole by itself, and is one that is run."""
    known = {recipe.__name__ for recipe in RECIPES + WITHOUT_TORCH} | {"rules", "first", "action", "github", "gitlab", "update"}
    for (name, language), body in blocks.items():
        if name not in known:
            wrong.append(f"recipe {name}: nothing runs it")
        if language == "python":
            compile(body, name, "exec")
        elif language == "sh":
            done = subprocess.run(["sh", "-n"], input=body, capture_output=True, text=True)
            wrong += [f"{name}: {done.stderr}"] * (done.returncode != 0)
        elif language == "json":
            json.loads(body)
        elif language == "yaml":
            wrong += [f"{name}: no YAML of keys"] * (bool(yaml) and not isinstance(yaml.safe_load(body), dict))
        elif language != "c":  # compiled where it is run
            wrong.append(f"{name}: a block of '{language}'")
    found = {name for name, _ in blocks}
    wrong += [f"recipe {r.__name__}: not found in the documentation" for r in RECIPES + WITHOUT_TORCH if r.__name__ not in found]


def find_torch():
    for python in PYTHONS:
        try:
            done = subprocess.run([python, "-c", "import sys, torch.profiler; print(sys.executable)"], capture_output=True, text=True)
        except OSError:
            continue
        if done.returncode == 0:
            return done.stdout.strip()
    return None


def main():
    wrong, counts = [], {"passed": 0, "failed": 0, "skipped": 0}

    def tell(kind, *what):
        counts[kind] += 1
        if kind != "passed":
            print("FAIL" if kind == "failed" else "skip", *what)

    blocks = read_blocks(wrong)
    check_blocks(blocks, wrong)
    for complaint in wrong:
        tell("failed", complaint)
    tell("passed" if not wrong else "failed", "the recipes as they stand")
    chosen = [recipe for recipe in RECIPES if not sys.argv[1:] or recipe.__name__ in sys.argv[1:]]
    python = None if wrong else find_torch()

    def work(recipe):
        r = Recipe(recipe.__name__, blocks, sys.executable if recipe in WITHOUT_TORCH else python)
        try:
            return r, recipe(r)
        except Exception as error:  # noqa: BLE001: said of this recipe; the others go on
            r.wrong.append(f"{type(error).__name__}: {error}")
            return r, None

    plain = [recipe for recipe in WITHOUT_TORCH if not wrong and (not sys.argv[1:] or recipe.__name__ in sys.argv[1:])]
    for r, skipped in map(work, plain):
        tell("failed" if r.wrong else "passed", r.name + ":", "; ".join(r.wrong))
        if skipped:
            tell("skipped", r.name + ":", skipped)
    if not python:
        why = "the recipes are wrong" if wrong else "no PyTorch for any of " + " ".join(PYTHONS)
        print(f"skip {len(chosen)} recipes: {why}")
        counts["skipped"] = len(chosen)
    else:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for r, skipped in pool.map(work, chosen):
                tell("failed" if r.wrong else "passed", r.name + ":", "; ".join(r.wrong))
                if skipped:
                    tell("skipped", r.name + ":", skipped)
    print(", ".join(f"{n} {kind}" for kind, n in counts.items() if n or kind != "skipped"))
    sys.exit(counts["failed"] > 0)


main()
