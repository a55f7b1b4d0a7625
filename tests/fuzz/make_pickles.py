#!/usr/bin/env python3
"""Writes the hostile pickles that fuzz_pickle starts from: make_pickles.py FOLDER"""

import os
import pickle
import struct
import sys

PROTO = b"\x80\x04"
STR = lambda s: b"\x8c" + bytes([len(s)]) + s.encode()

REFUSED = {
    "GLOBAL": b"cos\nsystem\n", "STACK_GLOBAL": STR("os") + STR("system") + b"\x93",
    "REDUCE": STR("os") + b")R", "BUILD": b"}}b", "INST": b"(ios\nsystem\n", "OBJ": b"(NNo",
    "NEWOBJ": b"N)\x81", "NEWOBJ_EX": b"N)}\x92", "EXT1": b"\x82\x01", "EXT2": b"\x83\x01\x00",
    "EXT4": b"\x84\x01\x00\x00\x00", "PERSID": b"Pid\n", "BINPERSID": b"NQ", "BYTEARRAY8": b"\x96" + b"\0" * 8,
    "NEXT_BUFFER": b"\x97", "READONLY_BUFFER": b"N\x98", "INT": b"I1\n", "LONG": b"L1L\n", "STRING": b"S'a'\n",
    "BINSTRING": b"T\1\0\0\0a", "SHORT_BINSTRING": b"U\1a", "UNICODE": b"Va\n", "FLOAT": b"F1.5\n", "GET": b"g0\n",
    "PUT": b"Np0\n", "BINBYTES": b"B\1\0\0\0a", "SHORT_BINBYTES": b"C\1a", "BINBYTES8": b"\x8e\1" + b"\0" * 7 + b"a",
    "EMPTY_SET": b"\x8f", "ADDITEMS": b"](N\x90", "FROZENSET": b"(N\x91", "DUP": b"N2",
}


def laughs():
    value = ["ha"] * 10
    for _ in range(12):
        value = [value] * 10
    return {"segments": [], "allocator_settings": {"joke": value}}


def event(**more):
    return {"action": "alloc", "addr": 1, "size": 1, "stream": 0, "time_us": 1} | more


def events(n, **more):
    return [event(**more) for _ in range(n)]


def snapshot(*happened, segments=()):
    return {"segments": list(segments), "device_traces": [list(happened)]}


def block(**more):
    return {"size": 1, "state": "active_allocated", "requested_size": 1, "address": 0} | more


def segment(*blocks, **more):
    return {"address": 0, "total_size": 1, "device": 0, "blocks": list(blocks), "stream": 0} | more


HOSTILE = {
    "memo-far": PROTO + b"Nr\xff\xff\xff\xff.", "memo-gap": PROTO + b"Nq\x05.", "memo-unset": PROTO + b"h\x00.",
    "marks": PROTO + b"(" * 5000, "lists-in-lists": PROTO + b"]" * 5000 + b"a" * 4999 + b".",
    "list-in-itself": PROTO + b"]\x94h\x00a.", "dict-in-itself": PROTO + b"}\x94" + STR("a") + b"h\x00s.",
    "cycle": PROTO + b"]\x94]\x94h\x00ah\x01\x860.", "string-huge": PROTO + b"\x8d" + b"\xff" * 8 + b"x",
    "string-4gib": PROTO + b"X\xff\xff\xff\xffx", "long-huge": PROTO + b"\x8b\xff\xff\xff\x7fx",
    "long-negative": PROTO + b"\x8b\xff\xff\xff\xffx", "longs": PROTO + b"(\x8a\x00\x8a\x01\xff\x8a\x09" +
    b"\xff" * 8 + b"\0\x8a\x0a" + b"\x7f" * 10 + b"l.", "empty": b"", "proto-only": PROTO, "proto-9": b"\x80\x09N.",
    "no-mark": PROTO + b"]e.", "odd-dict": PROTO + b"}(Nu.", "append-to-number": PROTO + b"K\x01K\x02a.",
    "under-mark": PROTO + b"](a.", "pop-nothing": PROTO + b"0.", "stop-early": PROTO + b".",
    "two-left": PROTO + b"NN.", "no-opcode": PROTO + b"\xff.",
    "fill-complete-event": PROTO + b"}(" + STR("action") + STR("alloc") + b"uK\x01K\x02s.",
    "tuples": PROTO + b"(NNNNNt(NtN\x85NN\x86NNN\x87\x86.", "laughs": pickle.dumps(laughs(), 4),
    "not-a-snapshot": pickle.dumps({"a": 1}, 4), "number": pickle.dumps(7, 4),
    "events-are-not": pickle.dumps({"segments": [], "device_traces": [[1, 2]]}, 4),
    "traces-are-not": pickle.dumps({"segments": [], "device_traces": 5}, 4),
    "settings-are-not": pickle.dumps({"segments": [], "device_traces": [[]], "allocator_settings": ["a", 1, "b", 2]}, 4),
    "segments-are-not": pickle.dumps({"segments": [{}], "device_traces": []}, 4),
    "negative-size": pickle.dumps(snapshot(event(size=-5)), 4),
    "sizes-overflow": pickle.dumps(snapshot(*events(1100, size=1 << 50)), 4),
    "segments-1-eib": pickle.dumps(snapshot(*events(1200, action="segment_alloc", size=1 << 50)), 4),
    "size-0": pickle.dumps(snapshot(*events(2, size=0), *events(3, action="free_completed", size=0)), 4),
    "size-1-eib": pickle.dumps(snapshot(event(), event(size=1 << 60, addr=2)), 4),
    "size-2-63": pickle.dumps(snapshot(event(size=1 << 63)), 4),
    "time-overflow": pickle.dumps(snapshot(event(time_us=1 << 62), event(time_us=-(1 << 62))), 4),
    "wrong-types": pickle.dumps(snapshot({k: [None] for k in event()}, {k: "x" for k in event()}), 4),
    "same-address": pickle.dumps(snapshot(*events(5), *events(9, action="free_completed")), 4),
    "listed-twice": pickle.dumps(snapshot(*[event()] * 5), 4),
    "device-huge": pickle.dumps(snapshot(segments=[segment(block(), device=1 << 40)]), 4),
    "device-negative": pickle.dumps(snapshot(segments=[segment(block(), device=-1)]), 4),
    "many-devices": pickle.dumps({"segments": [], "device_traces": [[]] * 300}, 4),
    "same-segment-twice": pickle.dumps((lambda s: snapshot(event(), segments=[s, s]))(segment(block())), 4),
    "segment-0": pickle.dumps(snapshot(event(), segments=[segment(block(), total_size=0), segment(
        block(size=0, requested_size=0), total_size=0, address=1 << 21)]), 4),
    "no-segments": pickle.dumps({"device_traces": [[event(action="segment_alloc", size=1 << 21), event(), event(
        action="segment_free", addr=1 << 30, size=1 << 22), event(action="free_completed")]]}, 4),
    "segments-lost": pickle.dumps(snapshot(*[event(action="segment_alloc", size=1 << 21, addr=n << 21) for n in (
        1, 2, 3)], segments=[segment(block(address=1 << 21), address=1 << 21, total_size=1 << 21)]), 4),
    "host-lists": pickle.dumps(snapshot(event()) | {"host_segments": [segment(block()), segment(block(), device=1)],
        "host_traces": [[event()], [event(), event(action="segment_alloc", size=4096)]]}, 4),
    "host-odd": pickle.dumps(snapshot(event()) | {"host_segments": [segment(device=300)], "host_traces": [[event()], 7]}, 4),
    "block-outside": pickle.dumps(snapshot(segments=[segment(block(address=1 << 40, size=1 << 49))]), 4),
    "bad-pool": pickle.dumps(snapshot(event(pool_id=(1,)), event(pool_id=("a", None))), 4),
    "bad-frames": pickle.dumps(snapshot(event(frames=[1, 2]), event(frames={"a": 1}), event(frames="x"),
                                        event(frames=[{"name": 1, "filename": None, "line": "z"}])), 4),
    "odd-names": pickle.dumps(snapshot(event(frames=[{"name": n, "filename": "??", "line": 0} for n in (
        "", "<", "operator", "operator<", "operator()(", "a<b", "(anonymous namespace)::", "{lambda", "((", "->",
        "x operator->", "a b c", ".llvm.", "f<a->b>(c)", "void f<x>")])), 4),
    "marks-odd": pickle.dumps(snapshot(event()) | {"external_annotations": [
        {"stage": "END", "name": "a", "device": 0, "time_us": 0}, {"stage": "START", "name": "", "device": 9, "time_us": 1},
        {"stage": 5, "name": "a", "device": 0, "time_us": 1}, {"stage": "START", "name": "ProfilerStep#", "device": 0,
        "time_us": 1}, {"stage": "START", "name": "Optimizer.step#x", "device": 0, "time_us": -5}]}, 4),
    "user-defined": pickle.dumps(snapshot(event(action="user_defined"), event(action="user_defined", frames=[
        {"name": "END", "filename": "never begun", "line": 0}])), 4),
    "long-names": pickle.dumps(snapshot(
        event(action="alloc2"), event(action="loc2"), event(action="\u00e9" * 30), event(action="x" * 39 + "\u00e9"),
        event(addr=2, user_metadata="\u00e9" * 100), event(addr=3, user_metadata="a" + "\u00e9" * 150),
        event(addr=4, compile_context="x" + "\u00e9" * 150)), 4),
    "unmap-first": pickle.dumps(snapshot(event(action="segment_unmap"), event(action="segment_map"),
                                         event(action="segment_unmap", size=9)), 4),
}


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, body in REFUSED.items():
        HOSTILE["refused-" + name] = PROTO + body + b"."
    deep = b"]"
    for _ in range(300):
        deep = b"](" + deep + b"e"
    HOSTILE["deep"] = PROTO + deep + b"."
    whole = pickle.dumps(snapshot(event(frames=[{"name": "f", "filename": "x.py", "line": 3}]), event(action="oom"),
                                  segments=[segment(block())]), 4)
    HOSTILE["small"] = whole
    HOSTILE["cut"] = whole[: len(whole) // 2]
    HOSTILE["long-line"] = PROTO + b"\x8a\x08" + struct.pack("<q", -(2**63)) + b"."
    for name, raw in HOSTILE.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(raw)


if __name__ == "__main__":
    main()
