#!/usr/bin/env python3
"""Flame graphs: boxes lie within those of their callers and beside each other, the outermost add up to what `peak` says;
pictures are XML whatever the names are, and neither they nor pages load anything; lines keep within the terminal."""

import glob
import os
import re
import subprocess
import unicodedata
import xml.etree.ElementTree as tree

import inputs
import mt

SAMPLES = os.environ["SAMPLES"]
ELSEWHERE = re.compile(r"<[^<>]*\b(?:src|href)\s*=|\burl\(|@import|\bfetch\(|XMLHttpRequest")
SVG = "{http://www.w3.org/2000/svg}"
m = mt.Matrix()
os.makedirs("made", exist_ok=True)


def samples():
    for pattern in ("*/trace.json.gz", "snapshots/[a-o]*.pickle", "heap/*.zst", "heap/*.folded", "python/memray_1.20*"):
        for path in sorted(glob.glob(f"{SAMPLES}/{pattern}")):
            yield re.sub(r"\W", "_", os.path.relpath(path, SAMPLES)), path
    yield from inputs.all_inputs("made")


def boxes_of(root):
    """[(level, x, width)] in preorder."""
    return [(int(g.get("data-l")), int(g.get("data-x")), int(g.get("data-w"))) for g in root.iter(SVG + "g") if g.get("class") == "box"]


def check_boxes(run, boxes, total, whole):
    ends = []  # of the boxes around
    places = []  # where the next box of a level may begin
    for level, x, width in boxes:
        if level > len(ends):
            continue  # what it is in was too narrow to be seen
        del ends[level:], places[level + 1 :]
        m.check(width > 0 and (not level or x + width <= ends[-1]), run, "within its caller", level, x, width)
        m.check(level >= len(places) or x >= places[level], run, "beside its siblings", level, x)
        ends.append(x + width)
        places[level:] = [x + width]
    tops = sum(width for level, _, width in boxes if level == 0)
    m.check(tops <= total and (not whole or tops == total), run, "the outermost are the whole", tops, total)


def check_names(run, root, total):
    """Without a script each box of some width can be read: it has its name, or the name stands below the picture."""
    without = []
    for g in root.iter(SVG + "g"):
        if g.get("class") != "box":
            continue
        said, text = g.find(SVG + "title").text, "".join(t.text or "" for t in g.iter(SVG + "text"))
        name = said.rpartition(": ")[0]
        if text.partition(" \u00b7 ")[0] != name and text != name and int(g.get("data-w")) >= 0.005 * total:
            without.append((int(g.get("data-w")), said))
        elif " \u00b7 " in text[len(name) :]:
            m.check(said.startswith(text.replace(" \u00b7 ", ": ")), run, "the size in a box", text, said)
    below = [t.text for t in root.iter(SVG + "text") if t.get("class") == "sub below"]
    widest = sorted((width for width, _ in without), reverse=True)[: len(below)]
    m.check(len(below) == min(10, len(without)), run, "names below", len(below), without[:3])
    for width, line in zip(widest, below):
        m.check("\u2026" in line or (width, line) in without, run, "named below", width, line)
    return len(below)


def picture(run, *args):
    code, out, err = m.run("flame", run, "--format", "svg", *args, codes=(0, 2))
    if code:
        return None
    try:
        root = tree.fromstring(out)
    except tree.ParseError as error:
        m.check(False, run, "XML", error)
        return None
    m.check(not ELSEWHERE.search(out.replace("http://www.w3.org/2000/svg", "")), run, "loads nothing")
    total = next(int(g.get("data-total")) for g in root.iter(SVG + "svg") if g.get("class") == "flame")
    check_boxes(run, boxes_of(root), total, "narrow" not in err)
    if "--min" not in args:
        named_below.append(check_names(run, root, total))
    return total


def width_of(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def check_text(run, device):
    for width in ("30", "100"):
        for more in ((), ("--ascii",), ("--invert",)):
            _, out, _ = m.run("flame", run, "--device", device, "--width", width, *more, codes=(0, 2))
            lines = out.split("\n")[1:]
            drawn = [line for line in lines if not re.match(r"[\d,]+ levels? left out", line)]
            m.check(all(width_of(line) <= int(width) for line in drawn), run, "within the width", width, more, drawn[:1])


def check_page(run):
    code, out, _ = m.run("flame", run, "--format", "html", codes=(0, 2))
    if code == 0:
        m.check(out.startswith("<!DOCTYPE html>") and out.count("<script>") == 1 and out.count("</script>") == 1, run, "a page")
        m.check(not ELSEWHERE.search(out), run, "a page loads nothing")


def browse():
    """A page in a browser, where there is one: its script runs, and zooms as its address says."""
    browser = next((p for p in ("/usr/bin/chromium", "/usr/bin/google-chrome") if os.path.exists(p)), None)
    if not browser:
        return
    m.run("flame", "nested_trace_json_gz", "--format", "html", "-o", "page.html", codes=(0,))
    page = f"file://{os.path.abspath('page.html')}#box=2"
    try:
        done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--dump-dom", page],
                              capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return  # a machine without what browsers need
    if done.returncode == 0 and "<svg" in done.stdout:
        m.check('class="box gone"' in done.stdout and "box faint" in done.stdout, "browser", "zoomed", done.stderr[-300:])


named_below = []
by_seen = dict.fromkeys(("ops", "modules", "lines"), 0)


def main():
    for run in m.imported(samples()):
        for device in run.devices[:2]:
            name = device["device"]
            total = picture(run.name, "--device", name)
            if total is not None and device["peak_b"] is not None and not run.one_moment:
                rows = m.rows("peak", run.name, "--device", name, "--by", "site")
                m.check(total == (mt.total(rows, "at_peak_b") or 0), run.name, "the whole is what peak says", total)
            allocated = picture(run.name, "--device", name, "--measure", "allocated", "--min", "0")
            m.check(allocated in (None, device["alloc_b"]), run.name, "all that was allocated", allocated, device["alloc_b"])
            for by in ("ops", "modules", "lines"):
                of = picture(run.name, "--device", name, "--by", by)
                m.check(of in (None, total), run.name, "the same, whatever boxes are", by, of, total)
                by_seen[by] += of is not None
            picture(run.name, "--device", name, "--invert")
            check_text(run.name, name)
        check_page(run.name)
    for new, base in (("cnn_b32_trace_json_gz", "cnn_b16_trace_json_gz"), ("leak_steps_trace_json_gz", "noleak_steps_trace_json_gz")):
        m.check(picture(new, "--diff", base) == picture(new), new, "compared, it is as wide")
    m.check(all(n >= 3 for n in by_seen.values()), "--by", by_seen)
    m.check(sum(n > 0 for n in named_below) >= 20, "names below", named_below[:10])
    browse()
    m.finish(at_least=5000)


main()
