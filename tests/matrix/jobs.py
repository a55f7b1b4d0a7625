"""Small jobs whose ranks hold what a test says."""
import json
import os

MIB = 1 << 20


def mesh(name, of, ranks):
    """The groups of a dimension of a mesh of which `of` is each rank's place in the others."""
    return [{"pg_name": f"{name}{k}", "pg_desc": name, "ranks": [r for r in range(ranks) if of(r) == k]} for k in sorted({of(r) for r in range(ranks)})]


def write(folder, sizes, groups=None, called="rank{}.json"):
    """A trace for each rank, which holds so many bytes."""
    os.makedirs(folder)
    for rank, size in enumerate(sizes):
        op = {"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 1, "tid": 1, "ts": 1, "dur": 9, "args": {}}
        record = {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 2,
                  "args": {"Bytes": int(size * MIB), "Addr": 4096, "Device Type": 0, "Device Id": -1, "Total Allocated": int(size * MIB)}}
        trace = {"schemaVersion": 1, "traceName": f"{folder} {rank}", "traceEvents": [op, record]}
        if groups is not None:
            default = {"pg_name": "0", "pg_desc": "default_pg", "ranks": list(range(len(sizes)))}
            mine = [g for g in groups if rank in g["ranks"]]
            trace["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": len(sizes), "pg_config": [default, *mine]}
        with open(os.path.join(folder, called.format(rank)), "w") as file:
            json.dump(trace, file)


def noisy(sizes):
    return [size + rank % 3 / 128 for rank, size in enumerate(sizes)]


def hybrid():
    """pp 2 x dp 4 x tp 2: ranks of a stage and of the first part hold more; rank 6 twice that. Sizes, and groups."""
    parts = [(40 if r < 8 else 20) + (10 if r % 2 == 0 else 0) for r in range(16)]
    parts[6] *= 2
    groups = mesh("mesh_pp", lambda r: r % 8, 16) + mesh("mesh_tp", lambda r: r // 2, 16) + mesh("mesh_dp", lambda r: (r // 8, r % 2), 16)
    return noisy(parts), groups


def blocks():
    """Four ranks of 40 MiB, twelve of 20, of which rank 9 has 60."""
    return noisy([40] * 4 + [20] * 5 + [60] + [20] * 6)
