#!/usr/bin/env python3
"""Pages of `memtool report`: their tables are what the commands say, to the byte; they load nothing, are well-formed
whatever the names are, and small; what was alive at each moment adds up to the level."""

import glob
import html
import html.parser
import itertools
import json
import os
import pickle
import random
import re
import resource
import subprocess
import types

import inputs
import mt

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.environ["SAMPLES"]
ELSEWHERE = re.compile(r"\burl\((?!#hatch)|@import|\bfetch\(|XMLHttpRequest|https?://(?!www\.w3\.org/2000/svg)")
VOID = {"meta", "link", "input", "br", "hr", "img"}
LARGEST = 1000 * 1000
m = mt.Matrix()
PAGES = []  # all that were made
BROWSER = next((p for p in ("/usr/bin/chromium", "/usr/bin/google-chrome") if os.path.exists(p)), None)
os.makedirs("made", exist_ok=True)


class Page(html.parser.HTMLParser):
    """What stands in a page: tables as [{column: exact value or text}] by section, and the data of scripts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.tables, self.data, self.ids, self.said = [], [], {}, {}, set(), set()
        self.text = text
        self.answer = ""  # the beginning of the page, tags as "|"
        if found := re.search(r'<p class="answer">.*?(?=<section)', text, re.S):
            self.answer = re.sub(r"(<[^>]*>|\s*\n)+", "|", found[0])
        self.cards = re.findall(r'<article class="card" data-advice="([^"]*)">(.*?)</article>', text, re.S)
        self.section = self.row = self.cell = self.script = None
        self.feed(text)
        self.close()
        self.wrong += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attrs:
            self.wrong += [f"id {attrs['id']} twice"] if attrs["id"] in self.ids else []
            self.ids.add(attrs["id"])
        loads = [attrs[name] for name in ("src", "href", "action") if not (attrs.get(name) or "#").startswith(("#", "data:,", "data:image/svg+xml;base64,"))]
        self.wrong += [f"loads {loads}"] if loads or any(name.startswith("on") for name in attrs) else []
        if tag == "section":
            self.section = attrs["id"]
        elif tag == "table":
            self.tables.setdefault(self.section, []).append([])
        elif tag == "tr":
            self.row = {}
        elif tag == "td":
            self.cell = next((word[2:] for word in attrs.get("class", "").split() if word.startswith("c-")), "")
            self.cell += str(len(self.row)) if self.cell == "heat" else ""  # a column for each step
            if self.cell:
                self.row[self.cell] = attrs.get("data-v")
        elif tag == "script":
            self.script = attrs.get("id", "code")
        elif tag == "style":
            self.script = "style"

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open[-1] != tag:
            self.wrong.append(f"</{tag}> in <{self.open[-1] if self.open else ''}> at {self.getpos()}")
            return
        self.open.pop()
        if tag == "td":
            self.cell = None
        if tag == "tr" and self.row:
            self.tables[self.section][-1].append(self.row)
        if tag in ("script", "style"):
            self.script = None

    def handle_data(self, data):
        if self.script:
            self.data[self.script] = self.data.get(self.script, "") + data
        elif self.row and self.cell and data.strip():
            self.said.add((self.section, len(self.tables[self.section]), self.cell))

    def empty_columns(self):
        """Columns of reports in which no cell says anything."""
        return [key for section, tables in self.tables.items() for i, table in enumerate(tables, 1)
                for cell in (table[0] if table else ()) if not cell.startswith("heat") and (key := (section, i, cell)) not in self.said]


def samples():
    for pattern in ("*/trace.json.gz", "snapshots/*.pickle", "heap/[a-m]*.zst", "heap/*.folded", "python/memray_1.20*", "process/*", "timelines/*.json.gz"):
        for path in sorted(glob.glob(f"{SAMPLES}/{pattern}")):
            if not path.endswith((".py", ".log")):
                yield re.sub(r"\W", "_", os.path.relpath(path, SAMPLES)), path
    yield from inputs.all_inputs("made")


def verdict(*refs):
    """What the beginning of the page has to say of leaks: what the exit code of the command says of all devices."""
    code, out, _ = m.run("leaks", *refs, "--fail", "--all", codes=(0, 1, 2, 3))
    title = out.split("\n")[0]
    sums = "alive at the end" in title and "no steps" not in title
    return "No verdict" if sums and code != 2 else ["\u2713 None", "\u25b2 ", "Cannot tell", "Cannot tell"][code]


def check_answer(run, of, page):
    """The first sentences say what the commands say."""
    m.check(f"|Leaks|{verdict(*of)}" in page.answer, run.name, "verdict on leaks", page.answer[:600], verdict(*of))
    if "The largest part" in page.answer:
        end = "At the end |" in page.answer  # of runs that know no peak
        _, out, _ = m.run(*(("leaks", *of, "--all") if end else ("peak", *of, "--by", "site")), "--limit", "1")
        size = re.search(r"^ *([0-9][0-9.,]* \w*B)  ", out, re.M)
        m.check(size and f"The largest part of it, |{size[1]}|" in page.answer, run.name, "the largest part", page.answer[:300], size and size[1])


def page_of(*refs):
    code, out, err = m.run("report", *refs, "--format", "html", codes=(0, 2))
    if code:
        m.check("memtool: " in err, refs, "a page or an error", err)
        return None
    page = Page(out)
    PAGES.append(out)
    m.check(not page.wrong, refs, "well-formed", page.wrong[:3])
    m.check(not page.empty_columns(), refs, "columns that say nothing", page.empty_columns())
    m.check(len(out.encode()) < LARGEST, refs, "small", len(out))
    code = page.data.pop("code") + page.data.pop("style")
    m.check("Content-Security-Policy" in out and not ELSEWHERE.search(code), refs, "loads nothing", ELSEWHERE.search(code))
    colourless = [kind for kind in set(re.findall(r'<i class="(k-[a-z-]*)"', out)) if not re.search(rf"\.{kind}[{{,]", code)]
    m.check(not colourless, refs, "categories have colours", colourless)
    m.check(out.count("<script") == 3 and out.count("</script") == 3 and "<!--" not in out, refs, "scripts of its own alone")
    for name, data in page.data.items():
        try:
            page.data[name] = json.loads(data)
        except ValueError as error:
            m.check(False, refs, name, "is JSON", error)
            page.data[name] = None
    return page


def same(refs, page, section, table, command, *columns):
    """The figures of a table equal those of a command that is asked for all rows."""
    tables = page.tables.get(section, [])
    rows = m.rows(*command) or []
    if not rows or table >= len(tables):
        m.check(not rows or section not in page.tables, refs, section, "a table", len(rows))
        return
    for column in columns:
        shown = [row.get(column) for row in tables[table]]
        if any(column in row for row in tables[table]):
            want = [None if row[column] is None else str(row[column]) for row in rows][: len(shown)]
            plain = all(text is None or text.isprintable() and text.isascii() for text in want)  # others are shown escaped
            m.check(shown == want or not plain, refs, section, column, shown[:5], want[:5])


def check_moments(refs, curve):
    """What parts hold adds up to the level at every moment."""
    levels = list(itertools.accumulate(curve["b"]))
    times = list(itertools.accumulate(curve["t"]))
    m.check(all(a <= b for a, b in itertools.pairwise(times)) and len(times) == len(levels), refs, "moments in order")
    if "parts" not in curve:
        return
    change = [0] * len(levels)
    for _, _, changes in curve["parts"]:
        at = value = 0
        for gap, new in zip(changes[::2], changes[1::2]):
            at += gap
            change[at] += new - value
            value = new
    m.check(list(itertools.accumulate(change)) == levels, refs, "parts add up")


def check_paths(refs, device, paths, text):
    still = re.search(r'<svg class="still"[^>]*>\n<rect class="fall"[^>]*><title>[^:]*: (?:[^<]*\()?([\d,]+) B', text)
    for name, figure in (("peak", "peak_b"), ("allocated", "alloc_b"), ("count", "alloc_n")):
        if name in paths["measures"] and device[figure] is not None:
            m.check(sum(paths["measures"][name][1::2]) == device[figure], refs, name, "of all paths", device[figure])
    held = sum(paths["measures"].get("peak", ())[1::2])
    m.check(not held or still and int(still[1].replace(",", "")) == held, refs, "the still picture says what they hold", still, held)
    m.check(len(paths["level"]) == len(paths["name"]) == len(paths["kind"]), refs, "paths", "as many of each")


def check_advice(run, of, page):
    """A card for each piece of advice, with what `advise` says of it; where it cannot tell, that."""
    answer = m.json("advise", *of)
    rows = answer["rows"]
    m.check([name for name, _ in page.cards] == [row["advice"] for row in rows], run.name, "cards", page.cards)
    if "cannot_tell" in answer:
        section = page.text.partition('<section id="advice">')[2].partition("</section>")[0]
        m.check("Cannot tell: " in section and "no rows" not in section, run.name, "why there is no advice", section[:300])
    for (_, card), row in zip(page.cards, rows):
        figures = dict(re.findall(r'class="c-(\w+)" data-v="(-?\d+)"', card.partition("<dl>")[0]))
        m.check(figures == {key: str(row[key]) for key in ("saving_b", "new_peak_b", "peak_b")}, run.name, row["advice"], figures)
        words = [html.unescape(words) for words in re.findall(r'<dd class="c-(?:because|how|verify)">(?:<code>)?(.*?)(?:</code>.*?)?</dd>', card)]
        want = [row[key].replace("autograd::engine::evaluate_function: ", "") for key in ("because", "how", "verify") if row[key]]
        m.check(words == want, run.name, row["advice"], words, want)
        sites = row["sites"][:4]
        m.check(re.findall(r'c-at_peak_b" data-v="(\d+)"', card) == [str(site["at_peak_b"]) for site in sites], run.name, row["advice"], "sites")
        lines = [html.unescape(line) for line in re.findall(r'<code class="line">(.*?)</code>', card)]
        m.check(lines == [site["source"] for site in sites if site["source"]], run.name, row["advice"], "lines", lines)
        m.check(str(row["price_ns"] or "") in "".join(re.findall(r'c-price_ns" data-v="(\d+)"', card)), run.name, row["advice"], "price")
    return len(rows)


def check_run(run):
    device = run.devices[0] if run.devices else None
    of = (run.name, "--device", device["device"]) if device else (run.name,)
    page = page_of(*of)
    if not page:
        return
    check_answer(run, of, page)
    if '<section id="advice">' in page.text:
        check_advice(run, of, page)
    curve, paths = page.data.get("curve-data"), page.data.get("paths-data")
    if curve:
        check_moments(run.name, curve)
        if device and device["peak_b"] is not None and "peak" in curve:
            m.check(max(itertools.accumulate(curve["b"])) == device["peak_b"], run.name, "the curve's peak", device["peak_b"])
    if paths and device and not run.one_moment:
        check_paths(run.name, device, paths, page.text)
    if "alive" in page.tables:
        same(run.name, page, "alive", 0, ("peak", *of), "at_peak_b", "at_peak_n", "site", "phase")
    if "leaks" in page.tables and len(page.tables["leaks"]) == 1:
        same(run.name, page, "leaks", 0, ("leaks", *of, "--all"), "at_end_b", "per_step_b", "verdict")
    if "operators" in page.tables:
        same(run.name, page, "operators", 0, ("table", *of), "self_net_b", "net_b", "name")


def check_moment(name):
    """What was alive at a moment is what `peak --at` says."""
    curve = page_of(name).data["curve-data"]
    times = list(itertools.accumulate(curve["t"]))
    for at in (len(times) // 3, len(times) * 3 // 4):
        held = {}
        for site, _, changes in curve["parts"]:
            moment = value = 0
            for gap, new in zip(changes[::2], changes[1::2]):
                moment += gap
                value = new if moment <= at else value
            held[site] = held.get(site, 0) + value
        want = sorted(row["live_b"] for row in m.rows("peak", name, "--at", str(times[at]), "--by", "site") if row["live_b"])
        m.check(sorted(filter(None, held.values())) == want and want, name, "alive at", times[at], want)


def check_held(name):
    """What sites held at the moments that a heap log knows is what `peak --at` says. Returns a moment of the curve, one behind it and
    one before all of them, if there are such."""
    curve = page_of(name).data["curve-data"]
    held, times = curve["held"], list(itertools.accumulate(curve["t"]))
    at = list(itertools.accumulate(held["t"]))
    m.check("parts" not in curve and len(at) > 1, name, "moments", at[:3])
    check_moments(name, {"t": held["t"], "b": held["b"], "parts": held["parts"]})
    last = {t: k for k, t in enumerate(at)}
    for t in sorted(last)[:: max(1, len(last) // 6)]:
        now = {}
        for site, _, changes in held["parts"]:
            moment = value = 0
            for gap, new in zip(changes[::2], changes[1::2]):
                moment += gap
                value = new if moment <= last[t] else value
            now[held["sites"][site]] = value
        want = sorted(row["live_b"] for row in m.rows("peak", name, "--at", str(t), "--by", "site") if row["live_b"])
        m.check(sorted(filter(None, now.values())) == want, name, "held at", t, now, want[:5])
    peak = times.index(curve["peak"]) if curve["peak"] in times else -1
    inside = next((t for i, t in enumerate(times) if t >= at[0] and i != peak), None)
    return inside, next((t for t in times if t < at[0]), None)


def check_change():
    page = page_of("cnn_b32_trace_json_gz", "cnn_b16_trace_json_gz")
    rows = [row for row in m.rows("diff", "cnn_b16_trace_json_gz", "cnn_b32_trace_json_gz") if row["section"] == "peak"]
    before = page.data["paths-data"]["measures"]["base"][1::2]
    m.check(sum(before) == 17355520, "change", "paths of the base", sum(before))
    shown = next(table for table in page.tables["change"] if "change_b" in table[0])
    m.check([row["change_b"] for row in shown] == [str(row["at_peak_delta_b"]) for row in rows], "change", "as diff says", shown[:2])


def check_bridge(base, new, least):
    """From one peak to the other: the changes of `diff`, the largest first, adding up to the byte."""
    page = page_of(new, base)
    device = next(iter(re.findall(r"<code>memtool diff .*?--device (\S+)</code>", page.text)), None)
    of = (base, new, "--section", "peak") + (("--device", device) if device else ())
    bridges = [t for t in page.tables.get("change", []) if t and "bridge_peak_b" in t[0]]
    m.check(len(bridges) >= least, base, new, "bridges", len(bridges))
    for table, by in zip(bridges, ((), ("--by", "category"))):
        answer = m.json("diff", *of, *by)
        want = sorted((row["at_peak_delta_b"] for row in answer["rows"] if row["at_peak_delta_b"]), key=abs, reverse=True)
        first, *changes, last = (int(row.get("bridge_peak_b") or row["bridge_b"]) for row in table)
        m.check(first == answer["totals"]["base_peak_b"] and last == answer["totals"]["new_peak_b"], base, new, by, "peaks", first, last)
        m.check(first + sum(changes) == last and sum(changes) == sum(want), base, new, by, "adds up", changes)
        m.check([abs(v) for v in changes[:14]] == [abs(v) for v in want[:14]] and len(changes) == min(len(want), 15), base, new, by, changes, want[:15])


def check_bridges():
    check_bridge("cnn_b16_trace_json_gz", "cnn_b32_trace_json_gz", 2)
    check_bridge("cnn_b32_trace_json_gz", "cnn_b16_trace_json_gz", 2)
    check_bridge("cnn_b32_trace_json_gz", "cnn_b32_trace_json_gz", 0)
    check_bridge("no_checkpoint_trace_json_gz", "checkpoint_trace_json_gz", 2)
    check_bridge("cnn_stack_trace_json_gz", "cnn_b32_trace_json_gz", 2)  # lines against ops
    check_bridge("snapshots_basic_pickle", "snapshots_fragmented_pickle", 1)
    check_bridge("heap_heaptrack_zst", "python_memray_1_20_bin", 1)


def loop(path, cpu_b, cuda_b, kept_b):
    """8 steps that hold and free so much on two devices, and keep something on the second."""
    events = []

    def record(ts, device, address, size):
        args = {"Addr": address, "Bytes": size, "Device Type": device, "Device Id": 0 if device else -1}
        events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts, "args": args})

    for n in range(8):
        begin = 1000 * n + 10
        for cat, name, ts, dur in (("user_annotation", f"ProfilerStep#{n}", begin, 900), ("cpu_op", "aten::empty", begin + 10, 50)):
            events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur})
        for ts, sign in ((begin + 15, 1), (begin + 105, -1)):
            record(ts, 0, 0x1000, sign * cpu_b)
            record(ts + 1, 1, 0x2000, sign * cuda_b)
        if kept_b:
            record(begin + 200, 1, 0x3000 + n * 4096, kept_b)
    with open(path, "w") as out:
        json.dump({"traceEvents": events}, out)


def check_devices():
    """A leak on a device that is not shown is a leak; a change is that of the device the page is about."""
    loop("kept.json", 2_000_000, 1000, 512)
    loop("large.json", 1000, 4_000_000, 0)
    m.run("import", "kept.json", "--name", "kept, in all \u00b7 of it", codes=(0,))
    m.run("import", "large.json", "--name", "large", codes=(0,))
    answer = page_of("kept, in all \u00b7 of it").answer
    m.check("|Leaks|\u25b2 Leak|8 steps" in answer and "There is a leak on cuda:0" in answer, "devices", "a leak elsewhere", answer)
    m.check("15 us into the run, in aten::empty, step 0. " in answer, "devices", "a name with marks of titles in it", answer)
    answer = page_of("large", "kept, in all \u00b7 of it").answer
    m.check("|Against the base|\u25b2 +3.81 MiB|peak 4.477 KiB -&gt; 3.815 MiB" in answer, "devices", "the change of cuda:0", answer)


def check_no_base():
    """A base with other devices: the page says so, the exit code is 3."""
    for base, of, said in (("heap_heaptrack_zst", ("cnn_b32_trace_json_gz",), "They have no device in common."),
                           ("kept, in all \u00b7 of it", ("large", "--device", "cuda:0"), None),
                           ("cnn_b32_trace_json_gz", ("large",), "Both have cpu: --device compares it.")):
        code, out, err = m.run("report", of[0], base, *of[1:], "--format", "html", codes=(0, 3))
        if said is None:
            m.check(code == 0 and not err, of, base, "compared", code, err)
            continue
        m.check(code == 3 and said in err and err.startswith("note: The page was written"), of, base, code, err)
        answer = Page(out).answer
        m.check("|Against the base|Cannot tell|run " in answer and "has no device" in answer, of, base, answer)


def said(*refs):
    """What the answer says, tags as "|"."""
    page = page_of(*refs)
    m.check('<p class="title">' + refs[0] not in page.text, refs, "the name of the run stands once")
    return html.unescape(page.answer)


def contains(answer, *parts):
    for part in parts:
        m.check(part in answer, "the answer", part, answer)


def check_sentences():
    """What filled memory and what to do, of each kind of recording."""
    contains(said("cnn_b32_trace_json_gz"), "Activations and what autograd keeps for the backward pass are |73 %| of it.")
    contains(said("leak_steps_trace_json_gz"), "It leaks |644 B every step|, most of it in |aten::clone|.")
    m.run("import", f"{SAMPLES}/../tests/recordings/advice/mlp_outs_grad.json.zst", "--name", "kept", codes=(0,))
    m.run("import", f"{SAMPLES}/../tests/recordings/categories/gpt_ckpt.json.zst", "--name", "recomputed", codes=(0,))
    contains(said("recomputed"), "|activation (recomputed) |3.016 MiB")
    contains(said("kept"), "Activations are |77 %| of it.")  # half of them are kept from earlier steps
    contains(said("process_before_after_json_gz"), ". Parameters are |100 %| of it.")
    contains(said("timelines_adam_raw_json_gz"), ". Parameters, gradients and the optimizer's state are |69 %| of it.")
    contains(said("snapshots_no_frames_pickle"), "has no call path: who allocated it |cannot be told|.")
    for n, path in (("1", "tracemalloc_1.pkl"), ("2", "tracemalloc_2.pkl.zst")):
        m.run("import", f"{SAMPLES}/python/{path}", "--name", "dump" + n, codes=(0,))
    contains(said("dump2", "dump1"), "At the end |2.849 MiB| were alive; how high memory rose before that |cannot be told|.",
             "The largest part of it, |1.902 MiB| |(67 %)|, was allocated in |tm.py:3 in tm.py:5|.",
             "|Against the base|\u25b2 +2.136 MiB|alive at the end 729.8 KiB -> 2.849 MiB |")
    with open("none.json", "w") as out:
        json.dump({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}, out)
    m.run("import", "none.json", "--name", "none", codes=(0,))
    contains(said("none"), "has no memory records: what filled memory |cannot be told|. ", "profile_memory=True")
    text = page_of(f"{SAMPLES}/../tests/recordings/torch/2.13.0/no_memory/trace.json.gz").text
    m.check("<li>2 steps</li>" in text and "no steps" not in text, "steps of a run without memory", text[text.find("facts"):][:400])
    for name, lines, shapes in (("cnn_stack_trace_json_gz", "Python stacks", "shapes of tensors"),
                                ("cnn_b16_trace_json_gz", "no Python stacks: no lines of code", "shapes of tensors"),
                                ("large", "no Python stacks: no lines of code", "no shapes of tensors")):
        text = page_of(name).text
        m.check(all(re.search(f'<li class="(known|lacks)">{words}</li>', text) for words in (lines, shapes)), name, "what was recorded", text[text.find("badges"):][:400])
        links = re.findall(r'aria-label="(More: [^"]*)"', text)
        m.check(len(links) == len(set(links)) >= 1, name, "links have names of their own", links)
    page = page_of(f"{SAMPLES}/cnn_b16/trace.json.gz")
    m.check("<h1>cnn_b16/trace.json.gz</h1>" in page.text, "a file", "is named by its last two parts")


def fails(path, asked_b, name):
    """The snapshot of another, with another size that could not be allocated."""
    with open(f"{SAMPLES}/snapshots/{path}", "rb") as file:
        snapshot = pickle.load(file)
    for event in (e for trace in snapshot["device_traces"] for e in trace if e["action"] == "oom"):
        event["size"] = asked_b
    with open(name + ".pickle", "wb") as file:
        pickle.dump(snapshot, file, protocol=4)
    m.run("import", name + ".pickle", "--name", name, codes=(0,))


def check_out_of_memory_elsewhere():
    """What fails need not be where most is allocated: the page says what `oom` says, of one device."""
    frames = {name: [{"name": name, "filename": "t.py", "line": 3}] for name in ("zero", "one")}
    for both in (False, True):
        events = [[("segment_alloc", 1 << 40, 40 << 20, "zero"), ("alloc", 1 << 40, 38 << 20, "zero")] + [("oom", 5 << 20, 50 << 20, "zero")] * both,
                  [("segment_alloc", 2 << 40, 20 << 20, "one"), ("alloc", 2 << 40, 12 << 20, "one"), ("oom", 3 << 20, 24 << 20, "one")]]
        traces = [[{"action": action, "device_free" if action == "oom" else "addr": place, "size": size, "stream": 0, "frames": frames[name],
                    "time_us": 10**15 + 1000 * device + 5 * i} for i, (action, place, size, name) in enumerate(of)] for device, of in enumerate(events)]
        path = f"elsewhere{both:d}.pickle"
        with open(path, "wb") as file:
            pickle.dump({"segments": [], "device_traces": traces}, file)
        answer = page_of(path).answer
        m.check("The program ran out of memory at 1.01 ms on cuda:1: |24 MiB| could not be allocated for |t.py:3 one|. The largest free range in the "
                "20 MiB that PyTorch held was 8 MiB; 3 MiB were free on the GPU." in answer, path, "where it failed last", answer[:600])
        own = "at 10 us: |50 MiB| could not be allocated for |t.py:3 zero|"
        m.check((own in page_of(path, "--device", "cuda:0").answer) == both, path, "of one device what failed there")


def check_out_of_memory():
    """Who asked, what there was, what would have made room: as `oom` says, and nothing else is advised."""
    answer = said("snapshots_oom_pickle")
    contains(answer, "The program ran out of memory at 287 us: |48 MiB| could not be allocated for |model.py:7 forward|. The largest free range "
             "in the 24 MiB that PyTorch held was 15.99 MiB; 12 MiB were free on the GPU.", "|To make it fit|Use less memory|")
    m.check("Largest saving" not in answer, "out of memory", "nothing that would not have helped", answer)
    fails("fragmented.pickle", 20 << 20, "nearly")
    fails("fragmented.pickle", 33 << 20, "perhaps")
    contains(said("nearly"), "|20 MiB| could not be allocated", "|To make it fit|expandable_segments:True|would have made room: units of 20 MiB")
    contains(said("perhaps"), "|To make it fit|Perhaps expandable_segments:True|may have made room: ")
    m.check("perhaps: expandable_segments:True" in m.run("oom", "perhaps")[1], "oom", "what nobody knows is not ruled out")
    for name in ("snapshots_oom_pickle", "nearly", "perhaps"):
        page = page_of(name)
        remedies = [row for row in m.json("oom", name)["rows"] if row["section"] == "remedy"]
        m.check(len(page.tables["oom"]) == 3 and len(page.tables["oom"][2]) == len(remedies) >= 5, name, "what would have helped", remedies)
    m.check('<section id="oom">' not in page_of("snapshots_basic_pickle").text, "no allocation failed", "no section on it")
    check_out_of_memory_elsewhere()


def check_processes():
    for name, sign, figure in (("grows", 1, "\u25b2 Leak|rss grows "), ("falls", -1, "\u2713 None|rss falls ")):
        with open(name + ".dat", "w") as out:
            out.write("CMDLINE python x.py\n")
            out.writelines(f"MEM {900 + sign * 2 * i + i * 7 % 5 / 10:.6f} {1700000000 + i * 0.5:.4f}\n" for i in range(200))
        m.run("import", name + ".dat", "--name", name, codes=(0,))
        answer = page_of(name).answer
        m.check(f"|Leaks|{figure}" in answer, "a process", name, answer)


def shown(page, section, schema_column):
    return next((t for t in page.tables.get(section, []) if t and schema_column in t[0]), [])


def equal(group, page, section, marked_by, rows, *columns):
    """A table of the page, found by a column of its own, has these rows, in any order."""
    table = shown(page, section, marked_by)
    for column in columns:
        if any(column in row for row in table):
            want = sorted("" if row[column] is None else str(row[column]) for row in rows)
            m.check(sorted(row[column] or "" for row in table) == want and want, group, section, column, want[:5])
        else:
            m.check(all(row[column] in (None, 0) for row in rows), group, section, column, "is not shown")


def check_ranks(group, files):
    """Ranks side by side: the figures are those of `ranks`, to the byte."""
    m.run("import", *files, "--group", group, codes=(0,))
    page = page_of("--group", group)
    answer = m.json("ranks", group)
    ranks = [row for row in answer["rows"] if row["section"] == "rank"]
    more = [row for row in answer["rows"] if row["section"] == "outlier"]
    equal(group, page, "ranks", "over_median_b", ranks, "rank", "run", "peak_b", "over_median_b", "peak_ns", "at_end_b", "site")
    equal(group, page, "ranks", "at_peak_delta_b", more, "at_peak_delta_b", "base_at_peak_b", "new_at_peak_b", "site")
    equal(group, page, "ranks", "median_peak_b", m.rows("ranks", group, "--by", "cluster"), "rank_n", "least_peak_b", "median_peak_b", "deviation_b")
    steps = m.rows("ranks", group, "--per", "step")
    heat = shown(page, "steps", "heat0")
    cells = [int(v) for row in heat for key, v in row.items() if key.startswith("heat") and v]
    m.check(cells == [row["peak_b"] for row in steps] and len(cells) > 8, group, "ranks and steps", cells[:5])
    span = re.search(r"peak (\S+ \S+) to (\S+ \S+), median", m.run("ranks", group)[1])
    m.check(span and f"|{span[1]}| to |{span[2]}|" in page.answer, group, "least and most", page.answer)
    m.check("trend" not in page.tables, group, "no trend over ranks")
    outliers = sum(row["outlier"] is True for row in ranks)
    judged = any(row["outlier"] is not None for row in ranks)
    said = f"\u25b2 {outliers} of {len(ranks)}" if outliers else "\u2713 None" if judged else "Cannot tell"
    m.check(f"|Outliers|{said}|" in page.answer, group, "outliers", page.answer, said)
    return page


def check_trend():
    """Runs in their order, the one with which the peak changed, and why."""
    for i in range(9):
        loop(f"night{i}.json", 3_000_000 if i < 6 else 5_000_000, 1000, 512 + i)
        m.run("import", f"night{i}.json", "--name", f"c<{i}>", "--group", "a & b", codes=(0,))
    page = page_of("--group", "a & b", "--device", "cpu")
    rows = m.rows("trend", "a & b", "--device", "cpu")
    runs, more = ([row for row in rows if row["section"] == name] for name in ("run", "change"))
    equal("trend", page, "trend", "alloc_b", runs, "run", "peak_b", "change_b", "alloc_b", "at_end_b")
    equal("trend", page, "trend", "at_peak_delta_b", more, "at_peak_delta_b", "site")
    m.check("|\u25b2 +1.907 MiB|" in page.answer and "with c&lt;6&gt;" in page.answer, "trend", page.answer)
    m.check("in the latest run, c&lt;8&gt;, at |4.768 MiB|; those before it at |2.861 MiB| to |4.768 MiB|. " in page.answer, "trend", "the answer", page.answer)
    for i, size in enumerate((3_000_000, 6_000_000, 2_000_000, 4_000_000)):
        loop(f"swing{i}.json", size, 1000, 512)
        m.run("import", f"swing{i}.json", "--group", "swings", codes=(0,))
    m.check("|Over the runs|No lasting change|" in page_of("--group", "swings", "--device", "cpu").answer, "trend", "swings are not 'no change'")
    m.check("ranks" not in page.tables and "steps" not in page.tables, "trend", "these are no ranks")
    code, _, err = m.run("report", "cnn_b32_trace_json_gz", "--group", "a & b", "-o", "both.html", codes=(0, 2))
    m.check(code == 2 and "not on both" in err and not os.path.exists("both.html"), "a run and a group", err)
    code, _, err = m.run("report", "--group", "nobody", "-o", "none.html", codes=(0, 2))
    m.check(code == 2 and "nobody" in err and not os.path.exists("none.html"), "no such group", err)


def check_shifted():
    """A rank that holds most may hold less of what changed most: what it has more of is named, on the page and by `oom`."""
    frames = [[{"name": name, "filename": "t.py", "line": line}] for line, name in enumerate("abc", 1)]
    os.makedirs("shifted")
    for rank in range(5):
        sizes = (10, 40, 40) if rank == 4 else (60, 10, 10)
        events = [{"action": "alloc", "addr": line << 30, "size": (size << 20) + rank * 1024, "stream": 0, "frames": frames[line]} for line, size in enumerate(sizes)]
        events.append({"action": "oom", "device_free": 0, "size": 1 << 30, "stream": 0, "frames": frames[0]})
        for i, event in enumerate(events):
            event["time_us"] = 10**15 + 5 * i - 1000 * (rank == 4)
        with open(f"shifted/shifted_rank{rank}.pickle", "wb") as file:
            pickle.dump({"segments": [], "device_traces": [events]}, file)
    m.run("import", "shifted", "--group", "shifted", codes=(0,))
    contains(page_of("--group", "shifted").answer, "|Rank 4| holds most, |10.01 MiB| more than the median of all; the largest part of that was allocated in |t.py:2 b|.",
             "|The worst against the median|\u25b2 +30 MiB|in t.py:2 b: the most of")
    m.check("look first at t.py:2 b: 30 MiB more" in m.run("oom", "shifted")[1], "oom", "where it has more")


def check_groups():
    here = os.path.join(SAMPLES, "..", "tests", "recordings", "ranks")
    check_ranks("data", sorted(glob.glob(f"{SAMPLES}/ranks/*.gz")))
    check_ranks("stages", sorted(glob.glob(f"{here}/*.gz")))
    check_trend()
    check_shifted()


def many_paths():
    """100,000 call paths."""
    with open("many.folded", "w") as out:
        for i in range(100000):
            out.write(f"main;part_{i % 10};module_{i % 1000}.forward;layer_{i % 20000};op_{i} {64 + i}\n")
    for values, measure in (("allocated", "allocated"), ("at-end", "peak")):
        m.run("import", "many.folded", "--name", f"many_{values}", "--values", values, codes=(0, 2))
        page = page_of(f"many_{values}")
        if page and page.data.get("paths-data"):
            paths = page.data["paths-data"]
            m.check(sum(paths["measures"][measure][1::2]) == sum(64 + i for i in range(100000)), values, "sums hold", paths["measures"].keys())
            m.check(len(json.dumps(paths, separators=(",", ":"))) <= 480 * 1024, values, "paths have room in a page", len(json.dumps(paths)))


PARSE = """
import html5lib, sys
for path in sys.argv[1:]:
    parser = html5lib.HTMLParser()
    with open(path, encoding="utf-8") as file:
        parser.parse(file.read())
    for (line, column), what, more in parser.errors:
        print(path, line, column, what, more)
"""


def check_html(at_most=24):
    """Pages of all kinds are HTML as its standard has it, says a parser that follows that."""
    python = next((p for p in ("python3", "/usr/bin/python3") if subprocess.run([p, "-c", "import html5lib"], capture_output=True).returncode == 0), None)
    if not python:
        m.skip("Python's html5lib is not installed")
        return
    paths = []
    for page in PAGES[:: len(PAGES) // at_most + 1]:
        paths.append(f"page{len(paths)}.html")
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(page)
    done = subprocess.run([python, "-c", PARSE, *paths], capture_output=True, text=True)
    m.check(done.returncode == 0 and not done.stdout, "valid HTML", len(paths), done.stdout[:600], done.stderr[-600:])


def in_browser(page):
    """The document that a browser makes of an address, and what it complained of; None where there is no browser that runs."""
    if not BROWSER:
        return None
    try:
        done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=3000",
                               "--dump-dom", page], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return None  # a machine without what browsers need
    if done.returncode or "<section" not in done.stdout:
        return None
    m.check("CONSOLE" not in done.stderr, page, "no error", [line for line in done.stderr.split("\n") if "CONSOLE" in line][:3])
    return done.stdout


def walk(*refs):
    """By keyboard alone: all that can be reached has a name and takes the focus; keys do what the page says (walk.js)."""
    m.run("report", *refs, "-o", "page.html", codes=(0,))
    with open("page.html", encoding="utf-8") as file, open(os.path.join(HERE, "walk.js"), encoding="utf-8") as script:
        text = file.read().replace("</body>", f"<script>{script.read()}</script></body>")
    with open("walk.html", "w", encoding="utf-8") as file:
        file.write(text)
    document = in_browser(f"file://{os.path.abspath('walk.html')}")
    if document is None:
        return
    found = re.search(r'data-walk="([^"]*)"', document)
    found = json.loads(html.unescape(found[1])) if found else {}
    m.check(found.get("stops", 0) >= 20, refs, "the walk", found)
    for what in ("nameless", "deaf", "missed"):
        m.check(found.get(what) == [], refs, "by keyboard", what, found.get(what))


def browse(*refs, drawn='class="peak"', state=" matched", box='class="box', link="m=allocated&q=aten"):
    """In a browser, where there is one: scripts run without an error, and nothing is asked for."""
    m.run("report", *refs, "-o", "page.html", codes=(0,))
    document = in_browser(f"file://{os.path.abspath('page.html')}#{link}")
    if document is None:
        return
    m.check(drawn in document and box in document, refs, "drawn")
    m.check(">undefined<" not in document and not re.search(r"<button[^>]*aria-pressed[^>]*></button>", document), refs, "buttons have words")
    m.check(state in document, refs, "the state of the address")


def user_s(*args):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    m.run(*args, codes=(0,))
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def check_deep():
    """Paths that stay too many, however much of them is folded, are read and written once."""
    made = random.Random(1)
    with open("deep.txt", "w") as f:
        for i in range(400):
            f.write(";".join(f"f{made.randrange(3)}_{k}" for k in range(400)) + f" {i + 1}00\n")
    m.run("import", "deep.txt", "--name", "deep", codes=(0,))
    page, flame = (min(user_s(*args) for _ in range(3)) for args in (("report", "deep", "-o", "deep.html"), ("flame", "deep", "--format", "svg", "-o", "deep.svg")))
    m.check(page < 2.5 * flame + 0.1, "a page of deep stacks takes", page, "s, a picture of them", flame)


def check_samples():
    """What many samples tell is drawn from the first on."""

    def memory(us, more):
        return {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": us, "args": {"Bytes": 64, "Addr": us, "Total Allocated": 64 * us, "Device Id": 0, "Device Type": 1, **more}}

    events = [memory(us, {"Total Reserved": 2048 * us} if us > 2000 else {}) for us in range(1, 4001)]
    with open("samples.json", "w") as f:
        json.dump({"schemaVersion": 1, "traceEvents": events}, f)
    m.run("import", "samples.json", "--name", "samples", codes=(0,))
    of = re.search(r'"second":\{"what":"reserved","of":\[\[(\d+),', m.run("report", "samples", "-o", "-", codes=(0,))[1])
    m.check(of and 1_990_000 <= int(of[1]) <= 2_000_000, "reserved is drawn from", of and of[1], "ns on")


def main():
    check_deep()
    check_samples()
    for run in m.imported(samples()):
        check_run(run)
    for name in ("leak_steps_trace_json_gz", "cnn_b32_trace_json_gz", "snapshots_basic_pickle"):
        check_moment(name)
    check_change()
    check_bridges()
    for name in ("attention_kept", "keep_outputs", "optim_adagrad", "gan"):
        m.run("import", os.path.join(SAMPLES, "..", "tests", "recordings", "advice", f"{name}.json.zst"), "--name", name, codes=(0,))
        m.check(check_advice(types.SimpleNamespace(name=name), (name,), page_of(name)), name, "there is advice")
    code, _, err = m.run("report", "leak_steps_trace_json_gz", "nothing", "-o", "none.html", codes=(0, 2))
    m.check(code == 2 and "no run 'nothing'" in err and not os.path.exists("none.html"), "a BASE that is not there", code, err)
    check_devices()
    check_no_base()
    check_processes()
    check_sentences()
    check_out_of_memory()
    many_paths()
    check_groups()
    check_html()
    if not BROWSER:
        m.skip("there is no chromium")
    early = []
    for name in ("heap_heaptrack_zst", "heap_mtrace_2k_log_zst", "python_memray_1_20_bin"):
        inside, before = check_held(name)
        browse(name, drawn='class="moment"', state="to the byte", box="known at", link=f"t={inside}")
        if before is not None:
            early.append(name)
            browse(name, state="Cannot tell: the file does not say who held memory so early", link=f"t={before}")
    m.check(early, "a moment before the first that is known")
    browse("--group", "data", drawn='class="line"', state="At the prompt", box='class="c-heat')
    browse("--group", "a & b", drawn='class="marked"', state="At the prompt", box="after 4.768 MiB")
    browse("cnn_b32_trace_json_gz", "cnn_b16_trace_json_gz")
    browse("cnn_b16_trace_json_gz", "cnn_b32_trace_json_gz", drawn="now 16.55 MiB (-16.19 MiB)", state="memtool flame cnn_b32_trace_json_gz --measure at-peak", link="m=base")
    browse("snapshots_basic_pickle")
    browse("snapshots_state_only_pickle", drawn='class="box')
    walk("cnn_b32_trace_json_gz", "cnn_b16_trace_json_gz")
    walk("heap_heaptrack_zst")
    walk("snapshots_basic_pickle")
    walk("cnn_stack_trace_json_gz")
    walk("snapshots_oom_pickle")
    m.finish(at_least=1000)


main()
