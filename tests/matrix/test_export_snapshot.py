#!/usr/bin/env python3
"""A part of an allocator snapshot that `memtool export` cuts out is a snapshot: memtool reads it back with the same
levels, blocks, segments and reserved bytes at every moment of the window, its events are those of the file, and it has
what PyTorch's viewers need."""

import collections
import glob
import os
import pickle
import pickletools
import random

import inputs
import mt

m = mt.Matrix()
OPCODES = set("PROTO STOP MARK EMPTY_LIST APPENDS EMPTY_DICT SETITEMS BININT BININT1 BININT2 LONG1 BINFLOAT TUPLE2 NEWTRUE NEWFALSE "
              "NONE SHORT_BINUNICODE BINUNICODE MEMOIZE BINGET LONG_BINGET".split())
SEGMENT_KEYS = {"device", "address", "total_size", "allocated_size", "active_size", "requested_size", "stream", "segment_type", "is_expandable",
                "frames", "blocks"}


def hostile():
    """Names of any characters, deep paths, large blocks, and many events with the same stack."""
    frames = [{"name": name[:300].encode("utf-8", "replace").decode(), "filename": "/home/" + "d/" * 500 + "x.py", "line": k} for k, name in enumerate(inputs.HOSTILE_NAMES)]
    device = inputs.Allocator(random.Random(3), 0)
    for k in range(1100):
        segment, block = device.alloc(512 * (1 + k % 5), frames[k % 20:] * 9 if k == 7 else frames[: 1 + k % 20])
        device.events[-1]["user_metadata"] = inputs.HOSTILE_NAMES[k % len(inputs.HOSTILE_NAMES)][:100].encode("utf-8", "replace").decode()
        if k % 3:
            device.free(segment, block)
    device.alloc(1 << 49, frames)
    return {"segments": device.final(), "device_traces": [device.events], "allocator_settings": {"a\tb": [1, None, -1, 2.5, True, {"x": 1 << 62}]}}


def made():
    with open("hostile.pickle", "wb") as f:
        pickle.dump(hostile(), f, 4)
    yield "hostile", "hostile.pickle"
    for path in sorted(glob.glob(f"{os.environ['DATA']}/snapshots/*.p*kl*")):
        yield "real-" + os.path.basename(path).partition(".")[0], path


def levels(run, device):
    """{time since 1970: level after it}, and that before all."""
    answer = m.json("timeline", run, "--device", device, "--exact")
    if not answer:
        return {}, None
    start = m.query(f"SELECT start_ns FROM run WHERE name = '{run}'")[0]["start_ns"]
    return {start + r["time_ns"]: r["level_b"] for r in answer["rows"]}, answer["totals"]["start_b"]


def rows(run, device, what, at):
    """Segments or blocks that are there before a time since 1970; None: at the end."""
    start = m.query(f"SELECT start_ns FROM run WHERE name = '{run}'")[0]["start_ns"]
    then = "freed_ns IS NULL" if at is None else f"(alloc_ns IS NULL OR alloc_ns < {at - start}) AND (freed_ns IS NULL OR freed_ns >= {at - start})"
    columns = "address, size_b, stream, expandable" if what == "v_segment" else "address, bytes_b"
    more = "" if what == "v_segment" or at is None else " AND bytes_b > 0"
    return collections.Counter(tuple(r.values()) for r in m.query(f"SELECT {columns} FROM {what} WHERE run = '{run}' AND device = '{device}' AND {then}{more}"))


def check_pickle(name, data):
    """Few opcodes, and what the viewers look for."""
    ops = {op.name for op, _, _ in pickletools.genops(data)}
    m.check(ops <= OPCODES and data[:2] == b"\x80\x04", name, "opcodes", ops - OPCODES)
    snapshot = pickle.loads(data)
    m.check({"segments", "device_traces"} <= set(snapshot), name, "keys", list(snapshot))
    for s in snapshot["segments"] + snapshot.get("host_segments", []):
        m.check(SEGMENT_KEYS <= set(s) and s["blocks"], name, "segment", list(s))
        at = s["address"]
        for b in s["blocks"]:
            m.check(b["address"] == at and b["size"] > 0 and b["state"] in ("inactive", "active_allocated", "active_pending_free"), name, "block", b)
            at += b["size"]
        m.check(at == s["address"] + s["total_size"], name, "blocks fill the segment", hex(at))
        live = [b for b in s["blocks"] if b["state"] != "inactive"]
        m.check(s["allocated_size"] == sum(b["size"] for b in live if b["state"] == "active_allocated") and s["active_size"] == sum(b["size"] for b in live)
                and s["requested_size"] == sum(b["requested_size"] for b in live), name, "sums of a segment", s["address"])
    return snapshot


def plain(e):
    """An event as both files have it: addresses are patterns of 64 bits, and no name goes on behind a zero byte."""
    frames = [(f["name"].partition("\0")[0], f["filename"], f["line"] % 2**64) for f in e.get("frames", [])]
    return e["action"], e.get("addr", e.get("device_free")) % 2**64, e["size"], e.get("stream", 0), e.get("time_us"), frames


def check_events(name, snapshot, path, w):
    """Behind the allocations that the window begins with, its events are the file's."""
    source = pickle.load(open(path, "rb"))
    if isinstance(source, list):
        return
    for got, want in zip(snapshot["device_traces"], source.get("device_traces", source.get("traces", []))):
        last, kept = -1, []
        for e in want:
            last = max(last, e["time_us"] * 1000)
            kept += [plain(e)] if w[0] <= last < w[1] else []
        m.check([plain(e) for e in got[len(got) - len(kept):]] == kept, name, "events", len(got), len(kept))
        m.check(all(e["action"] == "alloc" and e["time_us"] == w[0] // 1000 - 1 for e in got[: len(got) - len(kept)]), name, "begins with allocations")


def check_device(run, cut, device, w):
    name = device["device"]
    want, before = levels(run.name, name)
    got, start = levels(cut, name)
    first = [t for t in want if t < w[0]]
    want_start = want[max(first)] if first else before
    kept = {t: v for t, v in want.items() if w[0] <= t < w[1]}
    if first and want_start:
        kept[w[0] - 1000] = want_start
    m.check(got == kept, run, cut, name, "levels", mt.differences(got, kept))
    if not first and kept:
        m.check(start == before, run, cut, name, "level before", start, before)
    for what in ("v_segment", "v_block"):
        a, b = rows(cut, name, what, None), rows(run.name, name, what, w[1])
        m.check(a == b, run, cut, name, what, list((a - b).items())[:2], list((b - a).items())[:2])


def check_sites(run, cut, device, shift, w):
    """What is alive at moments, by call path. The nightlies of torch 2.4 mark scopes by events, which a window may cut off."""
    name = device["device"]
    if "user_defined" in run.name:
        return
    times = [r["t"] for r in m.query(f"SELECT DISTINCT alloc_ns AS t FROM v_alloc WHERE run = '{run.name}' AND device = '{name}' AND alloc_ns IS NOT NULL ORDER BY 1")]
    times = [t for t in times if w[0] <= t + shift[0] < w[1]]
    for t in times[:: max(1, len(times) // 3)]:
        if t + shift[0] - shift[1] < 0:
            continue
        tables = [mt.by(m.rows("peak", r, "--device", name, "--by", "site", "--at", f"{at}ns"), "site") for r, at in ((run.name, t), (cut, t + shift[0] - shift[1]))]
        a, b = ({k: (r["live_b"], r["live_n"]) for k, r in table.items()} for table in tables)
        # Of blocks older than the recording only those that stay have a path, and their frees say none.
        older = {("[before trace]",), ("[unknown]",)}
        if not older & set(a) and not older & set(b) and ("[outside ops]",) not in b:
            m.check(a == b, run, cut, name, "alive at", t, mt.differences(a, b))


def check_cut(run, path, number, w):
    """w: the window, ns since 1970."""
    start = m.query(f"SELECT start_ns FROM run WHERE name = '{run.name}'")[0]["start_ns"]
    window = ("--from", f"{w[0] - start}ns") * (w[0] > start) + ("--to", f"{w[1] - start}ns") * (w[1] <= start + run.dur_ns)
    cut, out = f"{run.name}-cut{number}", f"cut{number}.pickle"
    code, _, err = m.run("export", run.name, "-o", out, *window, codes=(0, 2))
    if not m.check(code == 0, run, window, "is cut", err[:300]):
        return
    data = open(out, "rb").read()
    m.run("export", run.name, "-o", out, *window)
    m.check(open(out, "rb").read() == data, run, "the same bytes again")
    snapshot = check_pickle(run.name, data)
    code, _, err = m.run("import", out, "--name", cut, codes=(0, 2))
    if "already" in err or not m.check(code == 0, run, window, "reads back", err[:300]):
        return
    m.known.clear()
    if inputs.is_odd(run.name):
        return
    check_events(run.name, snapshot, path, w)
    if m.query(f"SELECT 1 AS yes FROM v_note WHERE run = '{cut}' AND kind = 'state_only'"):
        return  # of one event nobody can tell that it is the history
    shift = start, m.query(f"SELECT start_ns FROM run WHERE name = '{cut}'")[0]["start_ns"]
    for device in m.query(f"SELECT device FROM v_device WHERE run = '{run.name}'"):
        if m.query(f"SELECT 1 AS yes FROM v_device WHERE run = '{cut}' AND device = '{device['device']}'"):
            check_device(run, cut, device, w)
            check_sites(run, cut, device, shift, w)


def windows(run):
    """In ns since 1970: all of it, its begin, its middle, its end, and nothing."""
    start = m.query(f"SELECT start_ns FROM run WHERE name = '{run.name}'")[0]["start_ns"]
    third, end = run.dur_ns // 3000 * 1000, start + run.dur_ns + 1
    yield start, end
    if run.dur_ns >= 5000:
        yield start, start + third
        yield start + third, start + 2 * third
        yield start + 2 * third, end


def main():
    paths = dict(made()) | dict(inputs.all_inputs("made"))
    seen = 0
    for run in m.imported(paths.items()):
        timed = not m.query(f"SELECT 1 AS yes FROM v_note WHERE run = '{run.name}' AND kind IN ('no_times', 'state_only')")
        if not run.is_snapshot:
            continue
        # A file whose list does not fit its events has no levels to compare.
        whole = timed and run.dur_ns and not any(d["residual_b"] for d in run.devices)
        for number, w in enumerate(windows(run) if whole else ()):
            check_cut(run, paths[run.name], number, w)
            seen += 1
        if not whole:
            code, _, err = m.run("export", run.name, "-o", "odd.pickle", codes=(0, 2))
            m.check(code == 0 and check_pickle(run.name, open("odd.pickle", "rb").read()), run, err[:200])
    m.check(seen >= 60, "windows", seen)
    code, _, err = m.run("export", "hostile", "-o", "x.pickle", "--source", paths["snapshot1"], codes=(2,))
    m.check("not what the run was imported from" in err and not os.path.exists("x.pickle"), "another file", err)
    m.finish(at_least=2000)


main()
