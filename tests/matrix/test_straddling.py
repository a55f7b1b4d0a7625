#!/usr/bin/env python3
"""Ops that straddle steps: bytes belong to the step under way, in inclusive figures as in an op's own.

Three accounts of each step must agree: the rows of `table --by KEY,step`, those of `table --step N --by KEY`, and a model that
follows each record outwards through the ops around it, as the store has them, as far as they began in that step.
"""

import os
import random

import inputs
import mt

OWN = ["self_net_b", "self_alloc_b", "self_freed_b", "self_at_peak_b", "self_at_end_b"]
ALL = ["net_b", "alloc_b", "freed_b", "at_peak_b", "at_end_b"]
REST = ["self_alloc_n", "calls_n", "time_ns", "self_time_ns"]
KEYS = ["name", "top", "scope", "path", "thread"]
MADE_UP = ["borders", "long_ops", "overlaps", "random1", "random3"]
STEPS = 3  # of longer loops the first ones

m = mt.Matrix()


def straddling(seed):
    """Scopes and ops in each other, of few names, that run over steps and the pauses between them; what they allocate is freed anywhere."""
    def make(trace):
        rng = random.Random(seed)
        pause, live = 40 * (seed % 2), []
        for step in range(5):
            trace.mark(f"ProfilerStep#{step}", 60 + 200 * step, 200 - pause)

        def inside(start, end, depth, tid):
            t = start + rng.choice((0, 5, 30))
            while t + 10 < end and depth < 6:
                last = min(end, t + rng.choice((15, 60, 170, 420, 1000)))
                trace.op(rng.choice("abcd"), t, last - t, tid, rng.choice(("cpu_op", "cpu_op", "user_annotation", "python_function")))
                for _ in range(rng.randrange(3)):
                    at, block = rng.uniform(t, last), (rng.randrange(1, 5000), 64 * rng.randrange(1, 1 << 40), rng.choice((inputs.CPU, inputs.CPU, inputs.CUDA0)))
                    trace.record(at, *block, tid)
                    live.append((at, block))
                inside(t, last, depth + 1, tid)
                t = last + rng.choice((0, 5, 30))

        for tid in (1, 2):
            inside(0, 1100, 0, tid)
        for at, (size, address, device) in rng.sample(live, len(live) * 2 // 3):
            trace.record(rng.uniform(at + 1, 1150), -size, address, device, rng.choice((1, 2)))
    return make


def programs(folder="made"):
    yield from ((name, path) for name, path in inputs.made_up(folder) if name in MADE_UP)
    for seed in range(6):
        trace = inputs.Trace(whole_us=seed > 3)
        straddling(seed)(trace)
        path = os.path.join(folder, f"straddling{seed}.json")
        trace.write(path)
        yield f"straddling{seed}", path
    yield from inputs.samples()


# ---- the model ----


class Ops:
    """The ops of a run as the store has them: {number: (name, number of the op around it, step)}."""

    def __init__(self, run):
        self.run = run
        self.of = {row["id"]: (row["name"], row["parent_id"], self.step(row["start_ns"])) for row in m.query(
            "SELECT o.id, o.parent_id, o.start_ns, iif(f.kind = 'python', '[Python]', f.name) AS name FROM v_op o JOIN node n ON n.id = o.node_id JOIN v_frame f ON f.id = n.frame_id "
            f"WHERE o.run = '{run.name}'")}

    def step(self, t_ns):
        return next((str(s["number"]) for s in self.run.steps
                     if s["start_ns"] <= t_ns < s["end_ns"] or t_ns == s["end_ns"] == self.run.dur_ns), "[no step]")

    def around(self, op, step):
        """The names of those that have in their inclusive figures what an op does in a step."""
        names = {self.of[op][0]}
        while op is not None and self.of[op][2] == step:
            names.add(self.of[op][0])
            op = self.of[op][1]
        return names


def modelled(run, device, ops):
    """{(name, step): figures}, by what the store says of each block."""
    sums = {}

    def add(op, t_ns, **figures):
        if op is None or t_ns is None:
            return
        step = ops.step(t_ns)
        for name in ops.around(op, step):
            own = name == ops.of[op][0]
            row = sums.setdefault((name, step), dict.fromkeys(OWN + ALL, 0))
            for figure, value in figures.items():
                row[figure] += value
                row["self_" + figure] += value if own else 0

    peak = m.query(f"SELECT d.peak_record FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{run.name}' AND d.name = '{device['device']}'")[0]["peak_record"]
    for a in m.query("SELECT a.* FROM alloc a JOIN device d ON d.id = a.device_id JOIN run r ON r.id = d.run_id "
                     f"WHERE r.name = '{run.name}' AND d.name = '{device['device']}'"):
        size, freed = a["bytes_b"], a["freed_record"]
        at_peak = peak is not None and a["alloc_record"] is not None and a["alloc_record"] <= peak and (freed is None or freed > peak)
        add(a["alloc_op_id"], a["alloc_ns"], net_b=size, alloc_b=size, at_peak_b=size * at_peak, at_end_b=size * (freed is None))
        add(a["freed_op_id"], a["freed_ns"], net_b=-size, freed_b=size)
    return {key: row for key, row in sums.items() if any(row.values())}


# ---- what is reported ----


def of_ops(rows):
    return [row for row in rows if not row["name"].startswith(("[outside ops", "[before trace", "[freed unseen"))]


def of_step(rows, number):
    return [row for row in rows if mt.OUTSIDE.sub(r"\1", str(row["step"])) == number]


def check_steps(run, device, keys):
    """--step N shows what --by KEY,step shows of N."""
    ask = ("table", run.name, "--device", device["device"])
    for key in keys:
        fine = m.rows(*ask, "--by", f"{key},step")
        for step in run.steps[:STEPS]:
            number = str(step["number"])
            only = mt.summed(m.rows(*ask, "--step", number, "--by", key), [key], OWN + ALL + REST)
            same = mt.summed(of_step(fine, number), [key], OWN + ALL + REST)
            m.check(only == same, run.name, device["device"], f"table --step {number} is not --by {key},step:", mt.differences(only, same))


def check_whole_steps(run, device):
    """A step holds no other."""
    for row in m.rows("table", run.name, "--device", device["device"], "--by", "step"):
        m.check([row[column] for column in ALL] == [row[column] for column in OWN], run.name, device["device"], "table --by step:", row)


def check_model(run, device, ops):
    got = mt.summed(of_ops(m.rows("table", run.name, "--device", device["device"], "--by", "name,step")), ["name", "step"], OWN + ALL)
    want = modelled(run, device, ops)
    m.check(got == want, run.name, device["device"], "table --by name,step", "the model:", mt.differences(got, want))


for run in m.imported(programs()):
    if not run.steps:
        continue
    ops = Ops(run)
    for device in run.devices:
        check_whole_steps(run, device)
        if device["at_end_b"] is None:  # its blocks have no figures of their own
            continue
        check_steps(run, device, KEYS if run.name.startswith("straddling") else ["name"])
        if not run.is_snapshot:  # of call paths, which have no ops around a block
            check_model(run, device, ops)
m.finish(at_least=600)
