"""Stacks deeper than 4,096 functions, in every format that lists stacks: paths have the innermost ones, below [stack cut]."""

import json
import pickle

import mt
import pprof

LIMIT = 4096
m = mt.Matrix()


def names(n):
    """Outermost first."""
    return ["main", *(f"f{i}" for i in range(n - 2, -1, -1))]


def folded(path, n):
    path.write(";".join(names(n)) + " 100\n")


def csv_rows(path, n):
    path.write(f"stack,at_end_b\n{';'.join(names(n))},100\n")


def jsonl_texts(path, n):
    path.write(json.dumps({"at_end_b": 100, "stack": names(n)}))


def jsonl_objects(path, n):
    path.write(json.dumps({"at_end_b": 100, "stack": [{"name": f, "file": "a.c"} for f in names(n)]}))


def dhat(path, n):
    frames = ["[root]", *(f"0x{i + 1:x}: {f} (a.c:1)" for i, f in enumerate(names(n)[::-1]))]
    head = {"dhatFileVersion": 2, "mode": "heap", "verb": "Allocated", "bklt": True, "bkacc": False, "tu": "instrs", "Mtu": "Minstr", "tuth": 500, "cmd": "a", "pid": 1, "te": 10, "tg": 5}
    one = {"tb": 100, "tbk": 1, "tl": 5, "mb": 100, "mbk": 1, "gb": 100, "gbk": 1, "eb": 100, "ebk": 1, "fs": list(range(1, n + 1))}
    json.dump({**head, "pps": [one], "ftbl": frames}, path)


def lsan(path, n):
    path.write("=================================================================\n==7==ERROR: LeakSanitizer: detected memory leaks\n\n")
    path.write("Direct leak of 100 byte(s) in 1 object(s) allocated from:\n")
    path.writelines(f"    #{i} 0x{i + 1:x} in {f} /a.c:1\n" for i, f in enumerate(names(n)[::-1]))
    path.write("\nSUMMARY: AddressSanitizer: 100 byte(s) leaked in 1 allocation(s).\n")


def gperftools(path, n):
    addresses = " ".join(f"0x{(i + 1) * 16:x}" for i in range(n))
    path.write(f"heap profile: 1: 100 [1: 100] @ heapprofile\n 1: 100 [1: 100] @ {addresses}\n\nMAPPED_LIBRARIES:\n")


def pprof_file(path, n):
    p = pprof.Profile()
    p.sample([p.location(p.function(f)) for f in names(n)[::-1]], [1, 100, 1, 100])
    path.buffer.write(p.bytes())


def xtree(path, n):
    path.write("# callgrind format\nversion: 1\ncreator: xtree-1\npid: 1\ncmd: a\npart: 1\n\nevents: curB curBk totB totBk totFdB totFdBk\n")
    path.write("fl=(1) a.c\n")
    for i, f in enumerate(names(n)):
        path.write(f"fn=({i + 1}) {f}\n1" if i == 0 else f"fn=({i + 1})\n1")
        if i + 1 < n:
            path.write(f"\ncfn=({i + 2}) f{n - 2 - i}\ncalls=1 1\n1 100 1 100 1 0 0\n")
    path.write(" 100 1 100 1 0 0\n\ntotals: 100 1 100 1 0 0\n")


def tracemalloc(path, n):
    import tracemalloc as real

    frames = tuple((f"f{i}.py", 1) for i in range(n))
    snapshot = real.Snapshot([(0, 100, frames, n)], 1 << 16)
    pickle.dump(snapshot, path.buffer)


def path_of(name):
    """Of the run's only path: its number of functions, its outermost and its innermost."""
    rows = m.rows("query", f"SELECT s.text AS name FROM run r JOIN node n ON n.id >= r.node_first AND n.id < r.node_first + r.node_n JOIN frame f ON f.id = n.frame_id JOIN string s ON s.id = f.name_id WHERE r.name = '{name}' ORDER BY n.id")
    names = [row["name"] for row in rows]
    kind = names[0] == "[direct leak]"  # the root of such paths
    return len(names) - kind, names[kind], names[-1]


for make in (folded, csv_rows, jsonl_texts, jsonl_objects, dhat, lsan, gperftools, pprof_file, xtree, tracemalloc):
    for n in (LIMIT, LIMIT + 1, 2 * LIMIT, 2 * LIMIT + 1, 5 * LIMIT + 3):
        name = f"{make.__name__}_{n}"
        with open(name, "w") as out:
            make(out, n)
        if m.run("import", name, "--name", name, codes=(0,))[0]:
            continue
        depth, outer, inner = path_of(name)
        m.check(depth == LIMIT + (n > LIMIT), make.__name__, n, "functions of the path", depth)
        m.check((outer == "[stack cut]") == (n > LIMIT), make.__name__, n, "outermost", outer)
        m.check(inner in ("f0", "f0.py:1", "[0xf]"), make.__name__, n, "innermost", inner)
m.finish(100)
