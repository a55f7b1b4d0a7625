#!/usr/bin/env python3
"""strace: what is mapped after each call, by an own count of pages."""

import collections
import gzip
import os
import random
import re

import mt

HEAP = os.path.join(os.environ["SAMPLES"], "heap")
PAGE = 4096
m = mt.Matrix()
LINE = re.compile(r"^(?:\[pid +(\d+)\] |(\d+) +)?(?:(\d[\d.:]+) )?(.*)$")
CALL = re.compile(r"^(\w+)\((.*)\) += (\S+).*$")


class Pages:
    """Each page with the kind of memory it is, or ("reserved", kind); brk is counted in bytes."""

    def __init__(self):
        self.pages, self.brk, self.first_brk = {}, None, None


def pages(address, size):
    return range(address // PAGE, (address + size + PAGE - 1) // PAGE)


def kind_of(args):
    flags, fd = args[3], args[4]
    if "ANON" not in flags:
        return "[file " + fd.split("/")[-1].rstrip(">") + "]" if "<" in fd else "[files]"
    return "[thread stacks]" if "STACK" in flags else "[shared memory]" if "SHARED" in flags else "[anonymous memory]"


def count(process):
    """How many pages there are of each kind."""
    kinds = collections.Counter()
    for each in {id(p): p for p in process.values()}.values():
        kinds.update(kind for kind in each.pages.values() if isinstance(kind, str))
        kinds["[heap]"] += ((each.brk or 0) - (each.first_brk or 0)) / PAGE
    return kinds


def play(lines):
    """(highest total, total at the end, by kind at the end) of a log that tells of its threads and processes."""
    process, ended, pending, highest = {}, set(), {}, 0
    for line in lines:
        if line.startswith(" > "):
            continue
        pid, other, _, rest = LINE.match(line.rstrip("\n")).groups()
        pid = int(pid or other or 0)
        if pid not in process:
            makers = [(p, text) for p, text in pending.items() if text.startswith(("clone", "fork", "vfork"))]
            process[pid] = process[makers[-1][0]] if makers and "CLONE_VM" in makers[-1][1] else Pages()
        own = process[pid]
        if rest.startswith("+++ exited"):
            ended.add(pid)
            if all(p in ended for p in process if process[p] is own) and len(ended) < len(process):
                own.__init__()
            continue
        if rest.startswith("<... "):
            rest = pending.pop(pid) + rest.split("resumed>", 1)[1]
        if rest.endswith("<unfinished ...>"):
            pending[pid] = rest[: -len("<unfinished ...>")]
            continue
        call = CALL.match(rest)
        if not call or call[3].startswith("-") or call[3] == "?":
            continue
        name, args, result = call[1], [a.strip() for a in call[2].split(",")], call[3]
        number = [int(a, 0) if re.fullmatch(r"0x[0-9a-f]+|\d+", a) else 0 for a in args]
        if name == "execve":
            own.__init__()
        elif name in ("clone", "clone3", "fork"):
            process.setdefault(int(result), own if "CLONE_VM" in call[2] else Pages())
        elif name == "mmap":
            kind = None if args[2] == "PROT_NONE" else kind_of(args)
            own.pages.update((p, kind or ("reserved", kind_of(args))) for p in pages(int(result, 16), number[1]))
        elif name == "munmap":
            for p in pages(number[0], number[1]):
                own.pages.pop(p, None)
        elif name == "mremap":
            new = pages(int(result, 16), number[2])
            was = [own.pages.pop(p, None) for p in pages(number[0], number[1])][: len(new)]
            more = len(new) - len(was)
            was = was + [was[-1] or "[anonymous memory]"] * more if any(was) else ["[anonymous memory]"] * len(new)
            for p, kind in zip(new, was):
                own.pages.pop(p, None)
                if kind:
                    own.pages[p] = kind
        elif name == "mprotect":
            for p in pages(number[0], number[1]):
                was = own.pages.get(p)
                if args[2] == "PROT_NONE" and isinstance(was, str):
                    own.pages[p] = ("reserved", was)
                elif args[2] != "PROT_NONE" and isinstance(was, tuple):
                    own.pages[p] = was[1]
        elif name == "brk":
            own.brk = int(result, 16)
            own.first_brk = own.first_brk or own.brk
        highest = max(highest, sum(count(process).values()))
    kinds = count(process)
    return int(highest * PAGE), int(sum(kinds.values()) * PAGE), {kind: int(n * PAGE) for kind, n in kinds.items() if n}


def imported(path, run, *options):
    m.offered += 1
    m.taken += m.run("import", path, "--name", run, *options, codes=(0,))[0] == 0
    return m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{run}'")[0]


def compare(run, path, lines):
    highest, end, kinds = play(lines)
    device = imported(path, run)
    m.check(device["at_end_b"] == end, run, "at the end", device["at_end_b"], end)
    m.check(device["peak_b"] == highest, run, "peak", device["peak_b"], highest)
    return device, kinds


with open(f"{HEAP}/maps.strace") as f:
    text = f.readlines()
sample, kinds = compare("sample", f"{HEAP}/maps.strace", text)
got = {row["name"]: row["self_at_end_b"] for row in m.rows("table", "sample", "--by", "name") if row["self_at_end_b"]}
m.check(got == kinds, "sample", "by kind", mt.differences(got, kinds))
with gzip.open(f"{HEAP}/maps_stacks.strace.gz", "rt") as f:
    stacks = f.readlines()
compare("stacks", f"{HEAP}/maps_stacks.strace.gz", stacks)
rows = {row["name"]: row for row in m.rows("table", "stacks", "--by", "name")}
m.check(rows["grow"]["at_end_b"] == 10 * 2**20 - 2**20 - 65536, "stacks", "what grow() has left", rows["grow"])

# The same in every form of the lines.
for run, change in (("pid", lambda s: re.sub(r"^(\d+) +", r"[pid \1] ", s)), ("events", lambda s: re.sub(r"^(\d+) +[\d.]+ ", r"\1 ", s)),
                    ("clock", lambda s: re.sub(r"^(\d+) +[\d.]+ ", r"\1 11:59:59.5 ", s)), ("took", lambda s: re.sub(r"( = .*)\n", r"\1 <0.000012>\n", s)),
                    ("place", lambda s: re.sub(r"^(\d+ +[\d.]+) ", r"\1 [00007f0123456789] ", s))):  # fmt: skip
    with open(f"{run}.strace", "w") as f:
        f.writelines(change(line) for line in text)
    device = imported(f"{run}.strace", run)
    m.check(all(device[c] == sample[c] for c in ("alloc_b", "alloc_n", "freed_b", "peak_b", "at_end_b")), run, "another form of lines", device, sample)

# Threads that strace did not follow may have anything.
with open("unfollowed", "w", encoding="utf-8") as f:
    f.write('execve("./a", ["./a"], 0x1 /* 9 vars */) = 0\nmmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000010000\n'
            "clone3({flags=CLONE_VM|CLONE_THREAD, stack=0x7f0000010000}, 88) = 8\nexit_group(0) = ?\n+++ exited with 0 +++\n")  # fmt: skip
imported("unfollowed", "unfollowed")
for limit in ("--max-peak", "--max-at-end"):
    m.check(m.run("check", "unfollowed", limit, "1TiB", codes=(0, 1, 3))[0] == 3, "unfollowed", limit, "is judged")

# Any calls of two processes and their threads, with calls that another one interrupts.
rng = random.Random(11)
for case in range(6):
    lines, space = [], {1: 0, 2: 0, 3: 1}
    lines += ["1 10.000001 execve(\"./a\", [\"./a\"], 0x7f /* 3 vars */) = 0", "1 10.000002 brk(NULL) = 0x1000000",
              "1 10.000003 clone3({flags=CLONE_VM|CLONE_THREAD} => {parent_tid=[2]}, 88) = 2",
              "1 10.000004 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 3", "3 10.000005 execve(\"./b\", [\"./b\"], 0x7f) = 0",
              "3 10.000006 brk(NULL) = 0x1000000"]  # fmt: skip
    tops = [0x1000000, 0x1000000]
    for k in range(400):
        pid = rng.choice((1, 2, 3))
        at, size = 0x7000000000 + PAGE * rng.randrange(64), rng.randrange(1, 20 * PAGE)
        prot = rng.choice(("PROT_NONE", "PROT_READ", "PROT_READ|PROT_WRITE"))
        what = rng.randrange(6)
        if what < 2:
            flags = rng.choice(("MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1", "MAP_SHARED|MAP_FIXED|MAP_ANONYMOUS, -1", "MAP_PRIVATE|MAP_FIXED, 3"))
            call = f"mmap({at:#x}, {size}, {prot}, {flags}, 0", f") = {at:#x}"
        elif what == 2:
            call = f"munmap({at:#x}, {size}", ") = 0"
        elif what == 3:
            call = f"mprotect({at:#x}, {size}, {prot}", ") = 0"
        elif what == 4:
            to = 0x7800000000 + PAGE * rng.randrange(64)
            call = f"mremap({at:#x}, {rng.randrange(1, 5) * PAGE}, {size}, MREMAP_MAYMOVE|MREMAP_FIXED, {to:#x}", f") = {to:#x}"
        else:
            tops[space[pid]] = max(0x1000000, tops[space[pid]] + PAGE * rng.randrange(-20, 30))
            call = f"brk({tops[space[pid]]:#x}", f") = {tops[space[pid]]:#x}"
        time = f"10.{k + 100:06}"
        if rng.random() < 0.3:
            lines += [f"{pid} {time} {call[0]} <unfinished ...>", f"{pid % 3 + 1} {time} getpid() = 1",
                      f"{pid} {time} <... {call[0].split('(')[0]} resumed>{call[1]}"]  # fmt: skip
        else:
            lines.append(f"{pid} {time} {call[0]}{call[1]}")
        if rng.random() < 0.1:
            lines.append(f"{pid} {time} mmap(NULL, 99999999, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = -1 ENOMEM (Cannot allocate memory)")
    if case % 2:
        lines += ["3 11.0 +++ exited with 0 +++", "2 11.0 +++ exited with 0 +++", "1 11.1 +++ exited with 0 +++"]
    with open(f"made{case}", "w") as f:
        f.write("\n".join(lines) + "\n")
    compare(f"made{case}", f"made{case}", lines)
m.finish(20)
