#!/usr/bin/env python3
"""Writes the traces of a job. `gen_job.py FOLDER [--ranks N] [--stages N] [--steps N]`

Every rank is a recording of PyTorch (tests/recordings/ranks: a rank of the first stage of a pipeline, and of the last)
whose bytes are scaled, whose last step is repeated, and which says where in the job it stands. All is a function of the
options. Of the ranks
  outlier   one holds three times the activations of its stage
  leak      one keeps a block of each step
  dies      one ends in the midst of its file
FOLDER/job.json says which these are.
"""
import argparse
import gzip
import json
import os

RECORDINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "recordings", "ranks")
SPREAD = 64  # addresses lie as much further apart, so that scaled blocks do not overlap
LARGE = 2048  # bytes; what is smaller is the same everywhere


def is_memory(event):
    return event["name"] == "[memory]"


class Recording:
    """A trace in three parts: before its last step, that step, and what comes behind."""

    def __init__(self, name):
        with gzip.open(os.path.join(RECORDINGS, name)) as file:
            self.head = json.load(file)
        events = [e for e in self.head.pop("traceEvents") if e["ph"] != "M" and e.get("cat") != "Trace"]
        marks = [e for e in events if e["name"].startswith("ProfilerStep#")]
        last = max(marks, key=lambda e: e["ts"])
        self.start, self.steps = last["ts"], len(marks)
        end = last["ts"] + last["dur"]
        self.length = round(last["dur"] + 50, 3)
        self.before = [e for e in events if e["ts"] < self.start]
        self.step = [e for e in events if self.start <= e["ts"] < end]
        self.numbers = 1 + max(v for e in events for k in ("External id", "Sequence number", "Ev Idx")
                               for v in [e.get("args", {}).get(k, 0)])
        # The blocks of a step that the step frees: those a rank may keep.
        born = {e["args"]["Addr"]: e["args"]["Bytes"] for e in self.step if is_memory(e) and e["args"]["Bytes"] > 0}
        freed = [e["args"] for e in self.step if is_memory(e) and e["args"]["Bytes"] < 0]
        self.kept = max((a for a in freed if born.get(a["Addr"]) == -a["Bytes"]), key=lambda a: -a["Bytes"])["Addr"]

    def again(self, time):
        """The events of the last step, `time` steps later."""
        shift, numbers = time * self.length, time * self.numbers
        for event in self.step:
            event = dict(event, ts=round(event["ts"] + shift, 3))
            if event["name"].startswith("ProfilerStep#"):
                event["name"] = f"ProfilerStep#{self.steps - 1 + time}"
            if "id" in event:
                event["id"] += numbers
            args = dict(event.get("args", {}))
            for key in ("External id", "Sequence number", "Ev Idx"):
                if key in args:
                    args[key] += numbers
            yield dict(event, args=args)


def scaled(size, scale, add):
    """A block of a rank; whole words, and the same for its free."""
    if abs(size) < LARGE:
        return size
    bytes_ = abs(size) * scale // 8 // 64 * 64 + add
    return bytes_ if size > 0 else -bytes_


def keep(step, address, new):
    """Without the free of the last block at that address, which gets one of its own."""
    at = [i for i, e in enumerate(step) if is_memory(e) and e["args"]["Addr"] == address]
    free = max(i for i in at if step[i]["args"]["Bytes"] < 0)
    born = max(i for i in at if i < free)
    step[born]["args"] = dict(step[born]["args"], Addr=new)
    return step[:free] + step[free + 1:]


def events_of(recording, steps, scale, add, leak):
    """The events of a rank, its running totals those of its blocks."""
    total = 0
    parts = [list(map(lambda e: dict(e, args=dict(e.get("args", {}))), recording.before))]
    for time in range(max(steps - recording.steps + 1, 1)):
        step = list(recording.again(time))
        parts.append(keep(step, recording.kept, (1 << 40) + (time << 20)) if leak else step)
    for event in (e for part in parts for e in part):
        if is_memory(event):
            args = event["args"]
            args["Bytes"] = scaled(args["Bytes"], scale, add)
            args["Addr"] *= SPREAD
            total += args["Bytes"]
            args["Total Allocated"] = total
        elif not event["args"]:
            del event["args"]
        yield event


def place(rank, ranks, stages):
    """What a recorder says of a rank: its groups along the pipeline and across."""
    wide = ranks // stages
    along = [rank % wide + s * wide for s in range(stages)]
    groups = [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cpu:gloo", "pg_size": ranks, "ranks": []},
              {"pg_name": "1", "pg_desc": "mesh_pp", "backend_config": "cpu:gloo", "pg_size": stages, "ranks": along}]
    return {"backend": "gloo", "rank": rank, "world_size": ranks, "pg_count": len(groups), "pg_config": groups}


def write(path, recording, info, events, dies):
    head = dict(recording.head, distributedInfo=info, traceName=os.path.basename(path),
                trace_id=f"{info['rank']:032X}")
    text = json.dumps(dict(head, traceEvents=list(events)), separators=(",", ":")).encode()
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 1, file, 0) as out:
        out.write(text[:len(text) * 3 // 5] if dies else text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--stages", type=int, default=2)
    parser.add_argument("--steps", type=int, default=4)
    asked = parser.parse_args()
    if asked.stages < 1 or asked.ranks < 4 or asked.ranks % asked.stages:
        parser.error("--ranks is 4 at least, and the same number for each stage")
    first, later = Recording("trace_0.json.gz"), Recording("trace_2.json.gz")
    odd = {"outlier": asked.ranks - 2, "leak": 1, "dies": asked.ranks // 2}
    os.makedirs(asked.folder, exist_ok=True)
    for rank in range(asked.ranks):
        stage = rank // (asked.ranks // asked.stages)
        scale = (8 + stage) * (3 if rank == odd["outlier"] else 1)
        recording = later if stage else first
        events = events_of(recording, asked.steps, scale, rank * 37 % 8 * 64, rank == odd["leak"])
        write(os.path.join(asked.folder, f"rank{rank}.json.gz"), recording, place(rank, asked.ranks, asked.stages),
              events, rank == odd["dies"])
    with open(os.path.join(asked.folder, "job.json"), "w", encoding="utf-8") as file:
        json.dump(dict(odd, ranks=asked.ranks, stages=asked.stages, steps=asked.steps), file)


if __name__ == "__main__":
    main()
