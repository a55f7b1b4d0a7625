#!/usr/bin/env python3
"""Small files whose records refer to much that stands in them once: functions inlined at a place, stacks of C, tuples of
frames. What they take in time and memory is bounded; limits are of the processor, and a few times what sanitizers take."""

import os
import pickle
import resource
import struct
import tracemalloc

import mt
import pprof

SECONDS, MEGABYTES = 25, 700
m = mt.Matrix()


def heaptrack(strings, ips, traces, used):
    lines = ["v 10400 3", "X app", "I 1000 1"] + [f"s {len(s):x} {s}" for s in strings]
    lines += ["i " + ip for ip in ips] + [f"t {ip:x} {parent:x}" for ip, parent in traces]
    lines += [f"a 8 {trace:x}" for trace in used] + [f"+ {i:x}" for i in range(len(used))]
    return ("\n".join(lines) + "\nR 1\n\n# strings: 1\n# ips: 1\n").encode()


def heaptrack_inlined(n):
    """A place at which n functions are inlined, called from n others."""
    names = [f"f{i}" for i in range(n)]
    ips = ["10 1 " + " ".join(f"{i + 2:x} 1 1" for i in range(n))] + [f"{i + 100:x} 1 {i + 2:x} 1 1" for i in range(n)]
    traces = [(i + 2, 0) for i in range(n)] + [(1, i + 1) for i in range(n)]
    return heaptrack(["app"] + names, ips, traces, range(n + 1, 2 * n + 1))


def heaptrack_chain(n, leaf):
    """n calls, one inside of the other, and n that are called by the innermost."""
    names = ["libc.so.6", "malloc", "calloc", leaf]
    traces = [(1 + i % 2, i) for i in range(n)] + [(3, n)] * n
    return heaptrack(names, ["10 1 2", "11 1 3", "12 1 4"], traces, range(n + 1, 2 * n + 1))


def heaptrack_suppressed(n):
    """n functions, and three times as many patterns of leaks, none of which matches one."""
    names = ["app"] + [f"f{i}" for i in range(n)]
    ips, traces = [f"{i + 16:x} 1 {i + 2:x}" for i in range(n)], [(i + 1, 0) for i in range(n)]
    lines = "".join(f"S leak:q{i}\n" for i in range(3 * n))
    return heaptrack(names, ips, traces, range(1, n + 1)).replace(b"R 1\n", lines.encode() + b"R 1\n")


def pprof_inlined(n):
    """The same as a profile of Go's."""
    p = pprof.Profile()
    functions = [p.function(f"f{i}") for i in range(n)]
    inner = p.location(*functions)
    for f in functions:
        p.sample([inner, p.location(f)], (1, 1, 1, 1), label=False)
    return p.bytes()


def pprof_called(n):
    """A function whose name has a megabyte, called by n others."""
    p = pprof.Profile()
    long = p.location(p.function("f" * (1 << 20)))
    for i in range(n):
        p.sample([long, p.location(p.function(f"f{i}"))], (1, 1, 1, 1), label=False)
    return p.bytes()


def dump(traces):
    """What tracemalloc dumps of these."""
    of, kept = object.__new__(tracemalloc.Snapshot), object.__new__(tracemalloc._Traces)
    kept.__dict__["_traces"] = traces
    of.__dict__.update(traces=kept, traceback_limit=10000)
    return pickle.dumps(of, 4)


def varint(v):
    return bytes([v & 127 | 128]) + varint(v >> 7) if v > 127 else bytes([v])


def signed(v):
    return varint(v << 1 if v >= 0 else (-v << 1) - 1)


def memray(n, interpreter):
    """n functions of Python, each of which allocates below n functions of C, the outermost of which may be the
    interpreter's."""
    out = [b"memray\0", struct.pack("<iBBQQQQ", 11, 1, 0, 0, 0, 1700000000000, 1700000001000), b"a\0", struct.pack("<IQQ", 1, 1, 0), b"\1\0"]
    out += [b"\x0c", struct.pack("<Q", 1)]
    if interpreter:
        out += [b"\7/usr/bin/python3\0\1", bytes(8), b"\x08", bytes(8), varint(0x1000)]
    out += [b"\3" + signed(1) + b"f%d\0a.py\0" % i + signed(0) for i in range(n)]
    ip = parent = 0
    for i in range(n):
        at = 0x10000 + i if i else 0x100
        out.append(b"\5" + signed(at - ip) + signed(i - parent))
        ip, parent = at, i
    for i in range(n):
        out += [b"\4", signed(1 if i else 1 - n), b"\x12", signed(1), varint(8), signed(n - parent), b"\x09"]
        parent = n
    return b"".join(out) + b"\x10"


def takes(name, data, code, says, options=("--max-memory", "48MiB"), command="import"):
    """Its import, or another command, ends with that exit code, and says that; within the limits."""
    m.check(len(data) < 5 << 20, name, "is no small file", len(data))
    with open(name, "wb") as f:
        f.write(data)
    m.commands += 1
    out, err = name + ".out", name + ".err"
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        for fd, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), fd)
        os.execv(m.memtool, [m.memtool, command, name, "--db", m.db, *options])
    _, status, used = os.wait4(child, 0)
    with open(out) as f, open(err) as g:
        said = f.read() + g.read()
    m.check(os.waitstatus_to_exitcode(status) == code, name, "exit", status, said[:300])
    m.check(says in said, name, "does not say", says, said[:300])
    m.check(used.ru_maxrss < MEGABYTES << 10, name, "memory", used.ru_maxrss)
    os.unlink(name)


MUCH = "needs more than 48 MiB of memory"
takes("inlined.heaptrack", heaptrack_inlined(6000), 2, MUCH)
takes("chain.heaptrack", heaptrack_chain(60000, "malloc"), 0, "60,000 allocations")
takes("chain_main.heaptrack", heaptrack_chain(60000, "main"), 0, "60,000 allocations")
takes("inlined.pb", pprof_inlined(6000), 2, MUCH)
STACK = tuple((f"f{i}.py", i + 1) for i in range(4000))
takes("domains.pkl", dump([(i + 1, 8, STACK, 4000) for i in range(4000)]), 2, MUCH)
takes("same.pkl", dump([(0, 8, STACK, 4000)] * 800000), 0, "800,000 blocks")
takes("calls.bin", memray(40000, False), 2, MUCH)
takes("called.bin", memray(10000, True), 2, MUCH)
# What a report takes for a call path is bounded, too, where nobody asks for more.
takes("paths.pkl", dump([(i + 1, 8, STACK, 4000) for i in range(750)]), 2, "call paths, more than a file of its size should", ())
# Each pattern is looked for in each name.
takes("suppressed.heaptrack", heaptrack_suppressed(20000), 0, "59,000 damaged events left out", (), "leaks")
# Each device is judged by all records.
RECORD = '{"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":%d,"args":{"Bytes":64,"Addr":%d,"Device Id":%d,"Device Type":1}}'
DEVICES = '{"traceEvents":[' + ",".join(RECORD % (i, i + 1, i % 4000) for i in range(40000)) + "]}"
takes("devices.json", DEVICES.encode(), 0, "damaged", (), "leaks")
# A layer is named by all modules around it.
MODULE = '{"ph":"X","cat":"python_function","name":"nn.Module: L_%d","pid":1,"tid":1,"ts":%d,"dur":%d}'
MODULES = [MODULE % (i, i, 200000 - 2 * i) for i in range(20000)] + [RECORD % (30000, 1, 0)]
takes("modules.json", ('{"traceEvents":[' + ",".join(MODULES) + "]}").encode(), 0, "L_0.L_1", ("--by", "layer"), "peak")
# A site is named by a function and its scope.
takes("called.pb", pprof_called(2000), 0, "2,000  ffff", (), "leaks")
m.finish(52)
