#!/usr/bin/env python3
"""Functions of places in code: logs of all formats that have addresses, of a program that is built here and says itself where
it calls from. What is no such program, or another one, is not used, whatever a log names; nor is anything opened that is none."""

import os
import re
import shutil
import subprocess

import mt

m = mt.Matrix()

# Calls leaf() from a function that is inlined in another one; prints addresses less where it lies: returns of leaf (line 10)
# and of outer (line 18), and where no call is.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
extern char __executable_start;
static unsigned long places[3];
__attribute__((noinline, noclone)) void *leaf(void)
{
    places[0] = (unsigned long)__builtin_return_address(0) - (unsigned long)&__executable_start;
    void *p =
        malloc(5);
    __asm__ volatile("" : : "r"(p) : "memory");
    return p;
}
static inline __attribute__((always_inline)) void *inlined(void) { return (char *)leaf() + 1; }
__attribute__((noinline, noclone)) void *outer(void)
{
    places[1] = (unsigned long)__builtin_return_address(0) - (unsigned long)&__executable_start;
    return (char *)
        inlined() + 1;
}
int main(void)
{
    void *p =
        outer();
    printf("%lx %lx %d\n", places[0], places[1], p != NULL);
    return 0;
}
"""
LEAF_CALL, OUTER_CALL = 19, 24  # lines of inlined() and outer()
BUILD_ID = "00112233445566778899aabbccddeeff00112233"


def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout


def build(name, *flags):
    with open("app.c", "w") as f:
        f.write(PROGRAM)
    run("cc", "-O2", "-g", "-fPIE", "-pie", f"-Wl,--build-id=0x{BUILD_ID}", *flags, "app.c", "-o", name)
    return os.path.abspath(name)


def loads(path):
    """(offset, address, bytes in the file, bytes in memory, executable) of each part of a program that is loaded."""
    found = re.findall(r"^  LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x(\w+) (R?)(W?) *(E?)", run("readelf", "-lW", path), re.M)
    return [(*(int(x, 16) for x in part[:4]), part[6] == "E") for part in found]


app = build("app")
inner, outer = (int(x, 16) for x in run(app).split()[:2])
parts = loads(app)
code = next(part for part in parts if part[4])
BASE = 0x7F0000400000


# ---- logs that name it ----


def raw(path, parts=parts, at=(inner, outer)):
    """heaptrack's, raw: one block of 5 bytes on the stack `at`, innermost first."""
    where = " ".join(f"{p[1]:x} {p[3]:x}" for p in parts)
    stack = "".join(f"t {BASE + place:x} {i}\n" for i, place in enumerate(reversed(at)))
    return f"v 10400 3\nx {len(path):x} {path}\nX ./app\nI 1000 5\nm 1 -\nm 1 x {BASE:x} {where}\n{stack}+ 5 {len(at):x} 10\nc 1\nR 1\n".encode()


def mtrace(path, at=(inner,)):
    return f"= Start\n@ {path}:[{at[0]:#x}] + 0x10 0x5\n".encode()


def mapped(path, spare=0, suffix="", at=(inner, outer)):
    """gperftools', with the mapping of its code."""
    offset = code[0] & ~4095
    end = (code[0] + code[2] + 4095) & ~4095
    first = BASE + (code[1] & ~4095)
    stack = " ".join(f"{BASE + place:#x}" for place in at)
    return (
        f"heap profile:      1:        5 [     1:        5] @ heapprofile\n     1:        5 [     1:        5] @ {stack}\n\nMAPPED_LIBRARIES:\n"
        f"{first:x}-{first + end - offset + spare:x} r-xp {offset:08x} 00:00 12    {path}{suffix}\n"
    ).encode()


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def text(field, s):
    return varint(field << 3 | 2) + varint(len(s)) + s


def pprof(path, build_id=BUILD_ID, at=(inner - 1, outer - 1)):
    offset = code[0] & ~4095
    first = BASE + (code[1] & ~4095)
    strings = ["", "inuse_objects", "count", "inuse_space", "bytes", path, build_id]
    mapping = number(1, 1) + number(2, first) + number(3, first + 4096) + number(4, offset) + number(5, 5) + number(6, 6)
    profile = b"".join(text(1, number(1, 1 + 2 * i) + number(2, 2 + 2 * i)) for i in range(2))
    profile += text(2, b"".join(number(1, i + 1) for i in range(len(at))) + number(2, 1) + number(2, 5)) + text(3, mapping)
    profile += b"".join(text(4, number(1, i + 1) + number(2, 1) + number(3, BASE + place)) for i, place in enumerate(at))
    return profile + b"".join(text(6, s.encode()) for s in strings)


# ---- what becomes of them ----

count = 0


def imported(data, *options):
    """(path of the block as text, note): main is left out of paths as it is in no log."""
    global count
    count += 1
    name = f"r{count}"
    with open(name + ".log", "wb") as f:
        f.write(data)
    m.run("import", name + ".log", "--name", name, "--replace", *options)
    rows = m.query(f"SELECT n.name, n.line, n.file FROM v_node n WHERE n.run = '{name}' ORDER BY id")
    note = m.query(f"SELECT text FROM v_note WHERE run = '{name}' AND kind = 'no_symbols'")
    return [(row["name"], row["line"], row["file"] and os.path.basename(row["file"])) for row in rows], note[0]["text"] if note else ""


WHOLE = [("main", OUTER_CALL, "app.c"), ("outer", LEAF_CALL, "app.c"), ("inlined", 14, "app.c")]


def named(what, data, *options, want=WHOLE):
    got = imported(data, *options)
    m.check(got == (want, ""), what, "has other names", got)


def unnamed(what, why, data, *options, whole=True):
    names, note = imported(data, *options)
    m.check(names and all(re.fullmatch(r"\[.*0x[0-9a-f]+\]", name) for name, _, _ in names), what, "has names", names)
    m.check(why in note, what, "is not said to be", why, note)


named("heaptrack", raw(app))
named("heap profile", mapped(app))
named("pprof", pprof(app))
named("mtrace", mtrace(app), want=WHOLE[1:])
named("mtrace, beside it", mtrace("./app"), want=WHOLE[1:])
fixed = build("fixed", "-no-pie", "-fno-pie")
at = int(run(fixed).split()[0], 16)
named("mtrace, at a fixed address", mtrace(fixed, (at,)), want=WHOLE[1:])
named("mtrace, at a fixed address, as older versions write it", mtrace(fixed, (at + min(part[1] for part in loads(fixed)),)), want=WHOLE[1:])
for form in (raw, mapped, pprof, mtrace):
    unnamed(form.__name__ + " without", "not looked for (--no-symbols)", form(app), "--no-symbols")
    unnamed(form.__name__ + " of a file that is gone", "in files that are not here (gone)", form("/nowhere/gone"))
    unnamed(form.__name__ + " in an empty system", "in files that are not here (app)", form(app), "--sysroot", "/nowhere")

# Another program lies there.
other = [(o, a, f, memory + 16 if executable else memory, executable) for o, a, f, memory, executable in parts]
unnamed("heaptrack of another", "in files that differ from those recorded (app)", raw(app, other))
unnamed("heaptrack of one with other parts", "differ from those recorded", raw(app, parts[:-1]))
unnamed("a profile of another", "differ from those recorded", mapped(app, 4096))
unnamed("a profile of one that was deleted", "in files that are not here", mapped(app, 0, " (deleted)"))
unnamed("pprof of another", "differ from those recorded", pprof(app, BUILD_ID[::-1]))
unnamed("mtrace where no call is", "differ from those recorded", mtrace(app, (inner - 1,)))
unnamed("a profile where no call is", "differ from those recorded", mapped(app, at=(inner + 1, outer - 2)))
unnamed("a place outside of code", "without symbols (app)", raw(app, at=(parts[-1][1] + 8,)))
unnamed("the end of addresses", "", raw(app, at=(2**64 - 1 - BASE,)))

# Systems elsewhere: at the path, or just there; links inside.
os.makedirs("root" + os.path.dirname("/opt/bin/app"))
shutil.copy(app, "root/opt/bin/app")
os.makedirs("flat")
shutil.copy(app, "flat/app")
os.symlink("app", "flat/link")
for form in (raw, mapped, pprof):
    named("in a system elsewhere", form("/opt/bin/app"), "--sysroot", "root")
    named("just there", form("/opt/bin/app"), "--sysroot", os.path.abspath("flat"))
    named("by a link", form("/opt/bin/link"), "--sysroot", "flat")
unnamed("no folder", "not here", raw("/opt/bin/app"), "--sysroot", "flat/app")

# What was stripped: names without lines; its debug information elsewhere.
shutil.copy(app, "root/opt/bin/stripped")
run("strip", "root/opt/bin/stripped")
unnamed("stripped", "without symbols (stripped)", raw("/opt/bin/stripped"), "--sysroot", "root")
shutil.copy(app, "root/opt/bin/nodebug")
run("strip", "--strip-debug", "root/opt/bin/nodebug")
named("without debug information", raw("/opt/bin/nodebug"), "--sysroot", "root", want=[("main", None, None), ("outer", None, None)])
debug = f"root/usr/lib/debug/.build-id/{BUILD_ID[:2]}"
os.makedirs(debug)
run("objcopy", "--only-keep-debug", app, f"{debug}/{BUILD_ID[2:]}.debug")
named("debug information by build id", raw("/opt/bin/stripped"), "--sysroot", "root")
os.makedirs("beside/opt/bin/.debug")
shutil.move(f"{debug}/{BUILD_ID[2:]}.debug", "beside/opt/bin/.debug/stripped.debug")
run("objcopy", "--add-gnu-debuglink=beside/opt/bin/.debug/stripped.debug", "root/opt/bin/stripped", "beside/opt/bin/stripped")
named("debug information by a link", raw("/opt/bin/stripped"), "--sysroot", "beside")
build("wrong", "-Wl,--build-id=0x1234", "-DWRONG")
run("objcopy", "--only-keep-debug", "wrong", "beside/opt/bin/.debug/stripped.debug")
unnamed("debug information of another", "without symbols", raw("/opt/bin/stripped"), "--sysroot", "beside")

# What no log should make anyone open, or read.
os.mkfifo("pipe")
os.mkdir("folder")
for name, data in (("empty", b""), ("words", b"#!/bin/sh\n"), ("head", b"\x7fELF"), ("cut", open(app, "rb").read()[:700])):
    with open(name, "wb") as f:
        f.write(data)
noise = bytearray(open(app, "rb").read())
for i in range(64, len(noise), 7):
    noise[i] = i * 31 & 255
with open("noise", "wb") as f:
    f.write(noise)
for path in ("pipe", "folder", "empty", "words", "head", "/dev/zero", "/dev/tty", "/proc/self/mem", "/proc/kmsg", "/sys/kernel/uevent_seqnum"):
    unnamed(path, "in files that cannot be read" if os.path.exists(path) else "", raw(os.path.abspath(path)))
for path in ("cut", "noise"):
    unnamed(path, "", raw(os.path.abspath(path)))
for path in ("", "x", "[vdso]", "linux-vdso.so.1", "../" * 50 + "etc/passwd", "\xff", "a" * 5000):
    unnamed("a path", "", raw("/y" if not path else path))

# Whether they are looked for, and where, makes another run.
m.run("import", "r1.log", "--name", "once", "--no-symbols", "--replace")
for how in (["--sysroot", "root"], ["--sysroot", "flat"]):
    m.run("import", "r1.log", "--name", how[1], *how)
m.check(m.query("SELECT count(*) AS n FROM run WHERE name IN ('once', 'root', 'flat')")[0]["n"] == 3, "three runs of one file")

m.finish(900)
