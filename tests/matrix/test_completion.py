"""Shell completion in real shells: what TAB makes of a line in bash and zsh on a pty and what fish offers,
with commands, options, their values, files and hostile names of runs; and every value that is offered is
one that the command takes."""
import os
import pty
import re
import select
import shutil
import subprocess
import time

from pprof import Profile, number, part

MEMTOOL, SAMPLES = os.environ["MEMTOOL"], os.environ["SAMPLES"]
passed = failed = skipped = 0


def check(what, good, *shown):
    global passed, failed
    passed += bool(good)
    failed += not good
    if not good:
        print("FAIL", what, *shown)


def memtool(*args, code=0):
    done = subprocess.run([MEMTOOL, *args], capture_output=True)
    if code is not None and done.returncode != code:
        print("FAIL memtool", *args, "exits", done.returncode, done.stderr)
        raise SystemExit(1)
    return done.stdout.decode(errors="replace")


# A folder with files, a database of runs with names that a shell or a terminal would obey.
NAMES = ["two words", "it's [x]", "$(touch pwned)", "`touch pwned`", 'say "hi"', "bang!x", "end!", "c:d=e@f", "ümlaut;&|"]
os.makedirs("bin")
os.symlink(MEMTOOL, "bin/memtool")
os.environ["PATH"] = os.path.abspath("bin") + ":" + os.environ["PATH"]
os.makedirs("folder")
open("folder/a file", "w").close()
open("out put.json", "w").close()
open("other.csv", "w").close()
TRACE = f"{SAMPLES}/basic/trace.json.gz"
# What leaks says of a process, in columns that others have not.
GROWTH = {"device", "per_minute_b", "per_event_b", "rate_least_b", "rate_most_b", "by_b", "at_ns", "looks_n", "metric"}
RUN_OF = {"object": "heap", "file": "heap", "rss": "heap", "category": "categories", "label": "labels",  # what traces have not,
          "line": "stacks", "layer": "stacks"}  # or only some
FURTHER = {"heap": ("temporary_most_n",), "memray": ("temporary_n", "temporary_b"),  # figures that only these have
           "copies": ("copied_b", "copies_n"), "events": ("units_n", "events_n"),
           "dhat": ("read_b", "written_b", "lifetime_ns", "lived_n")}
memtool("import", TRACE, "--db", "t.db", "--name", "base", "--group", "night ly")
for i, name in enumerate(NAMES):
    text = subprocess.run(["gzip", "-dc", TRACE], capture_output=True).stdout
    open("r.json", "wb").write(text.replace(b"aten::empty", b"aten::empt%d" % i))
    memtool("import", "r.json", "--db", "t.db", "--name", name)
hostile = "esc\033]0;pwned\007.json"
os.rename("r.json", hostile)
open(hostile, "wb").write(text.replace(b"aten::empty", b"aten::other"))
memtool("import", hostile, "--db", "t.db")
os.remove(hostile)
memtool("import", f"{SAMPLES}/snapshots/basic.pickle", "--db", "t.db", "--name", "-dashed", code=None)

# What is typed, what TAB makes of it; "\t" is a blank there that may be typed or not.
LINES = [
    ("memtool ta", "memtool table "),
    ("memtool --db x ta", "memtool --db x table "),
    ("memtool --db=x --no-pager ta", "memtool --db=x --no-pager table "),
    ("memtool nonsense ta", "memtool nonsense ta"),
    ("memtool help ti", "memtool help timeline "),
    ("memtool --asc", "memtool --ascii "),
    ("memtool table --sor", "memtool table --sort "),
    ("memtool table --sort self_cpu_time_", "memtool table --sort self_cpu_time_total "),
    ("memtool table -s calls", "memtool table -s calls_n "),
    ("memtool table --by to", "memtool table --by top"),
    ("memtool table --by top,ph", "memtool table --by top,phase"),
    ("memtool table --by=top,ph", "memtool table --by=top,phase"),
    ("memtool table --columns self_time_ns,calls", "memtool table --columns self_time_ns,calls_n"),
    ("memtool table --format j", "memtool table --format json "),
    ("memtool table --format=j", "memtool table --format=json "),
    ("memtool timeline --format sv", "memtool timeline --format svg "),
    ("memtool diff --section to", "memtool diff --section total"),
    ("memtool peak --at @p", "memtool peak --at @peak "),
    ("memtool peak --per st", "memtool peak --per step "),
    ("memtool table @l", "memtool table @latest"),
    ("memtool schema --form", "memtool schema --form"),
    ("memtool --db t.db ranks night", "memtool --db t.db ranks night\\ ly "),
    ("memtool completion fi", "memtool completion fish "),
    ("memtool --db t.db table bas", "memtool --db t.db table base "),
    ("memtool --db t.db table --device cp", "memtool --db t.db table --device cpu "),
    ("memtool --db t.db runs --group ni", "memtool --db t.db runs --group night\\ ly "),
    ("memtool --db t.db table baseline:n", "memtool --db t.db table baseline:night\\ ly "),
    ("memtool --db t.db diff base tw", "memtool --db t.db diff base two\\ words "),
    ("memtool table --db=t.db tw", "memtool table --db=t.db two\\ words "),
    ("memtool table -dt.db tw", "memtool table -dt.db two\\ words "),
    ("memtool --db t.db table two\\ w", "memtool --db t.db table two\\ words "),
    ("memtool --db t.db table 'two", "memtool --db t.db table 'two words' "),
    ('memtool --db t.db table "two w', 'memtool --db t.db table "two words" '),
    ("memtool --db t.db table it", "memtool --db t.db table it\\'s\\ \\[x\\] "),
    ('memtool --db t.db table "it', 'memtool --db t.db table "it\'s [x]" '),
    ("memtool --db t.db table say", 'memtool --db t.db table say\\ \\"hi\\" '),
    ("memtool --db t.db table \\$", "memtool --db t.db table \\$\\(touch\\ pwned\\) "),
    ("memtool --db t.db table \\`", "memtool --db t.db table \\`touch\\ pwned\\` "),
    ("memtool --db t.db table bang", "memtool --db t.db table bang\\!x "),
    ("memtool --db t.db table c:", "memtool --db t.db table c:d=e@f "),
    ("memtool --db t.db table c:d=e", "memtool --db t.db table c:d=e@f "),
    ("memtool --db t.db table üm", "memtool --db t.db table ümlaut\\;\\&\\| "),
    ("memtool --db t.db table esc", "memtool --db t.db table esc"),
    ("memtool --db nothing.db table tw", "memtool --db nothing.db table tw"),
    ("memtool import fol", "memtool import folder/"),
    ("memtool import folder/", "memtool import folder/a\\ file "),
    ("memtool import --replace fol", "memtool import --replace folder/"),
    ("memtool table -o oth", "memtool table -o other.csv "),
    ("memtool table --output=oth", "memtool table --output=other.csv "),
    ("memtool table -o out", "memtool table -o out\\ put.json "),
    ("memtool --db t.d", "memtool --db t.db "),
    ("memtool --db t.db table fol", "memtool --db t.db table folder/"),
    ("memtool table base --limit ", "memtool table base --limit "),
]
BASH_LINES = LINES + [
    ('memtool --db t.db table "end', 'memtool --db t.db table "end"\\!"" '),
]
LISTS = [  # what is typed; some of what is offered, and something that is not
    ("memtool ", ["import", "table", "completion"], "--db"),
    ("memtool table --", ["--sort", "--by", "--limit", "--db", "--format", "--help"], "--section"),
    ("memtool schema --", ["--help"], "--format"),
    ("memtool table --by top --", ["--sort"], "--by"),
    ("memtool check --baseline base --", ["--baseline"], "--sort"),
    ("memtool table --format ", ["table", "csv", "json", "markdown"], "svg"),
    ("memtool check --format ", ["junit", "github"], "svg"),
    ("memtool --db t.db table ", ["base"], "--sort"),
    ("memtool --db t.db runs --delete ", ["base"], "folder/"),
    ("memtool --db t.db check --baseline ", ["base"], "table"),
    ("memtool --db t.db peak --at ", ["@start", "@end", "@peak"], "base"),
]


class Terminal:
    """A shell on a pty whose prompt is "> " and that prints its line between "<<" and ">>" for ^G."""

    def __init__(self, argv, setup, env):
        self.child, self.fd = pty.fork()
        if self.child == 0:
            os.environ.update(env)
            os.execvp(argv[0], argv)
        self.seen = b""
        self.send(setup + "\necho re''ady\n")
        self.wait(b"ready\r\n")

    def send(self, text):
        os.write(self.fd, text.encode())

    def wait(self, what, seconds=60):
        end = time.monotonic() + seconds
        while what not in self.seen:
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise TimeoutError(f"no {what} in {self.seen[-2000:]}")
            self.seen += os.read(self.fd, 65536)

    def tab(self, line):
        """The line that TAB makes of this one."""
        self.seen = b""
        self.send("\x18k" + line + "\t\x07")
        self.wait(b">>\r\n")
        shown = self.seen
        self.send("\x18k")
        return re.findall(rb"<<(.*?)>>\r\n", shown, re.S)[-1].decode(), shown

    def end(self):
        self.send("\x18kexit\n")
        os.close(self.fd)
        os.waitpid(self.child, 0)


BASH = """PS1='> '; bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; bind 'set completion-query-items 0'
bind 'set page-completions off'; bind '"\\C-xk": kill-whole-line'; bind -x '"\\C-g": printf "<<%s>>\\n" "$READLINE_LINE"'
source <(memtool completion bash)"""
ZSH = """PROMPT='> '; unsetopt beep; setopt no_always_last_prompt; LISTMAX=1000; autoload -U compinit; compinit -u -D
shown() { print -r -- "<<$BUFFER>>"; zle -I }; zle -N shown; bindkey '^G' shown; bindkey '^Xk' kill-whole-line"""


def have(shell):
    global skipped
    if shutil.which(shell):
        return True
    print(f"skipped: there is no {shell} here")
    skipped += 1
    return False


def on_terminal(shell, argv, setup, lines=LINES):
    if not have(shell):
        return
    terminal = Terminal(argv, setup, {"TERM": "dumb", "COLUMNS": "200", "PS1": "> "})
    for typed, wanted in lines:
        came, shown = terminal.tab(typed)
        check(f"{shell}: {typed!r} becomes {came!r}, not {wanted!r}", came == wanted)
        check(f"{shell}: {typed!r} shows a name raw", b"\033]0" not in shown, shown)
    terminal.end()
    check(f"{shell} ran what is a name", not os.path.exists("pwned"))


def in_fish():
    if not have("fish"):
        return
    script = "source (memtool completion fish | psub); for line in $argv; echo \\<\\<$line; complete -C $line; end"
    lines = [typed for typed, _ in LINES] + [typed for typed, _, _ in LISTS]
    done = subprocess.run(["fish", "--no-config", "-c", script, *lines], capture_output=True)
    check("fish has nothing to complain of", not done.stderr, done.stderr)
    check("fish shows a name raw", b"\033]0" not in done.stdout)
    offered = {}
    for part in done.stdout.decode().split("<<")[1:]:
        typed, *rest = part.splitlines()
        offered[typed] = dict((line.split("\t") + [""])[:2] for line in rest)
    for typed, wanted in LINES:
        word = wanted[typed.rindex(" ") + 1 :].rstrip(" ") if wanted.strip() != typed.strip() else None
        if word and "'" not in typed and '"' not in typed and "\\" not in typed:
            plain = re.sub(r"\\(.)", r"\1", word)
            check(f"fish: {typed!r} offers {plain!r}", plain in offered[typed], offered[typed])
        elif not word and "table @l" not in typed:
            word = typed[typed.rindex(" ") + 1 :]
            check(f"fish: {typed!r} offers nothing", not [c for c in offered[typed] if c.startswith(word)], offered[typed])
    for typed, some, never in LISTS:
        check(f"fish: {typed!r} offers {some}", set(some) <= set(offered[typed]), offered[typed])
        check(f"fish: {typed!r} does not offer {never}", never not in offered[typed], offered[typed])
    check("fish says what commands do", "who allocated what" in offered["memtool "]["table"])
    check("fish says what options do", "rows" in offered["memtool table --"]["--limit"])
    check("fish says what values mean", "innermost" in offered["memtool table --by to"].get("top", "innermost"))


def ask(*words):
    """{candidate: meaning}, as zsh and fish get them."""
    lines = memtool("completion", "fish", "--", "memtool", *words).splitlines()[1:]
    return dict(line.split("\t") for line in lines)


def labelled():
    """A heap profile with a label."""
    p = Profile()
    text = part(3, number(1, p.text("tenant")) + number(2, p.text("a"))) + part(3, number(1, p.text("the user")) + number(2, p.text("b, c")))
    values = b"".join(number(2, v) for v in (2, 200, 1, 100))
    p.parts.append(part(2, number(1, p.location(p.function("main.f"))) + values + text))
    return p.bytes()


def export_args(run, option, value):
    """What else an option of export needs: rows are of a view, windows of a snapshot."""
    if option in ("--from", "--to", "--step"):
        return ["gpu", "-o", "v.pickle"]
    if option == "--view":
        return [run, "-o", "v.tsv"]
    if value == "clickhouse":
        return ["-o", "v.tsv", "--rollup", run]
    return [run, "-o", "v.folded"] + (["--view", "step"] if value in ("csv", "tsv", "jsonl") else [])


def every_value():
    """What is offered for an option is taken, by every command."""
    memtool("import", f"{SAMPLES}/snapshots/fragmented.pickle", "--db", "v.db", "--name", "gpu")
    memtool("import", f"{SAMPLES}/heap/heaptrack.zst", "--db", "v.db", "--name", "heap")
    memtool("import", f"{SAMPLES}/heap/dhat_2k.json", "--db", "v.db", "--name", "dhat")
    memtool("import", f"{SAMPLES}/heap/dhat_copy.json", "--db", "v.db", "--name", "copies")
    memtool("import", f"{SAMPLES}/heap/dhat_ad_hoc.json", "--db", "v.db", "--name", "events")
    memtool("import", f"{SAMPLES}/python/memray_1.20.bin", "--db", "v.db", "--name", "memray")
    memtool("import", f"{SAMPLES}/timelines/adam.raw.json.gz", "--db", "v.db", "--name", "categories")
    memtool("import", f"{SAMPLES}/process/seed_style.log", "--db", "v.db", "--name", "process")
    memtool("import", f"{SAMPLES}/leak_steps/trace.json.gz", "--db", "v.db", "--name", "run")
    memtool("import", f"{SAMPLES}/cnn_stack/trace.json.gz", "--db", "v.db", "--name", "stacks")
    for name in ("labels1.pb", "labels2.pb"):  # as a series they have a curve, too
        with open(name, "wb") as out:
            out.write(labelled())
    memtool("import", "--series", "labels1.pb", "labels2.pb", "--split", "label", "--db", "v.db", "--name", "labels")
    os.environ["MEMTOOL_DB"] = "v.db"
    offered = 0
    for command in ask(""):
        for option, help_text in ask(command, "--").items():
            check(f"{command} {option} is explained", help_text)
            for word in ask(command, option + "="):
                value = word.split("=", 1)[1]
                run = "gpu" if value == "reserved" or command in ("segments", "fragmentation", "memory") else "run"
                run = "process" if command == "memory" and option in ("--at", "--per") else run
                run = "process" if command == "leaks" and value in GROWTH else run
                run = "stacks" if command == "flame" and option == "--by" else run
                run = "gpu" if value == "snapshot" else run
                run = RUN_OF.get(value) or next((log for log, figures in FURTHER.items() if value.endswith(figures)), run)
                args = {"diff": [run, run], "import": [TRACE, "--db", "i.db"], "help": [], "schema": [],
                        "version": [], "query": ["SELECT 1"], "completion": ["bash"], "check": [run, "--max-peak", "1TiB"],
                        "export": export_args(run, option, value)}.get(command, [run])
                if option in ("--db", "--group", "--set-group", "--device", "--diff") or "cuda" in value or "xpu" in value:
                    continue
                done = subprocess.run([MEMTOOL, command, *args, option, value], capture_output=True)
                offered += 1
                check(f"{command} {option} {value} is taken", done.returncode in (0, 1, 3), done.stderr)
    check("values are offered", offered > 100, offered)


def labels_of_by():
    """Keys of labels are offered to those who begin one, and taken, where labels are."""
    takes = [command for command in ask("") if "--by" in ask(command, "--") and "label" in ask(command, "--by", "")]
    check("commands take labels", {"table", "peak", "leaks", "diff", "timeline"} <= set(takes), takes)
    check("others have none", not any("label" in word for word in ask("segments", "--by", "label:")))
    for command in takes:
        for before in ("", "site,"):
            got = set(ask(command, "--by", f"{before}label:"))
            check(f"{command} --by {before}label: offers labels", got == {f"{before}label:tenant", f"{before}label:the user"}, got)
        args = ["labels", "labels"] if command == "diff" else ["labels"]
        done = subprocess.run([MEMTOOL, command, *args, "--by", "label:tenant,label:the user"], capture_output=True, text=True)
        check(f"{command} takes keys of labels", done.returncode == 0, done.stderr)


def keys_of_by():
    """What is offered for --by is what help explains, what the command takes and what it says it takes."""
    commands = [command for command in ask("") if "--by" in ask(command, "--")]
    keys = {word for command in commands for word in ask(command, "--by", "")}
    check("keys are offered", {"name", "forward", "device"} <= keys and len(commands) > 5, keys, commands)
    for command in commands:
        runs = {"segments": ["gpu"], "flame": ["stacks"], "diff": ["run", "run"]}.get(command, ["run"])
        took, said = set(), set()
        for key in sorted(keys) + ["colour"]:
            of = [RUN_OF.get(key, run) for run in runs]
            done = subprocess.run([MEMTOOL, command, *of, "--by", key], capture_output=True, text=True)
            check(f"{command} --by {key} ends well", done.returncode in (0, 2), done.stderr)
            if done.returncode == 0:
                took.add(key)
            else:
                knows = re.search("(?:Keys|Sections|Values|Metrics): ([a-z, ]*)", done.stderr)
                check(f"{command} --by {key}: the error lists the keys", f"'{key}'" in done.stderr and knows, done.stderr)
                said = set(knows[1].split(", ")) if knows else set()
        offered = set(ask(command, "--by", ""))
        check(f"{command} --by offers what it takes", offered == took, offered ^ took)
        check(f"{command} --by says what it takes", said == took, said ^ took)
        words = memtool(command, "--help").partition("Words of --by")[2].partition("\n\n")[0]
        explained = set(re.findall(r"^  (\w+) ", words, re.M))
        check(f"{command} --help explains the keys", explained == took, explained ^ took)


on_terminal("bash", ["bash", "--norc", "--noprofile", "-i"], BASH, BASH_LINES)
os.makedirs("functions")
open("functions/_memtool", "w").write(memtool("completion", "zsh"))
on_terminal("zsh", ["zsh", "-f", "-i"], "fpath+=($PWD/functions)\n" + ZSH)
on_terminal("zsh", ["zsh", "-f", "-i"], ZSH + "\nsource <(memtool completion zsh)", LINES[:5])
in_fish()
every_value()
labels_of_by()
keys_of_by()
print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
raise SystemExit(failed > 0)
