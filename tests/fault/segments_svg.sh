#!/bin/sh
# Pictures of segments, of every snapshot and of made-up ones with very many segments, blocks, pools and
# hostile names: well-formed XML that fits a page, of modest size, without scripts or references.
set -u
fails=0 seen=0
command -v python3 >/dev/null 2>&1 || { echo "python3 is not here"; exit 77; }

fail() { echo "FAIL $*"; fails=$((fails + 1)); }

cat >judge.py <<'EOF'
import sys
import xml.etree.ElementTree as E

text = open(sys.argv[1], encoding="utf-8").read()
root = E.fromstring(text)
tags = {e.tag.split("}")[1] for e in root.iter()}
assert tags <= {"svg", "title", "style", "rect", "text"}, tags
assert {a for e in root.iter() for a in e.attrib} <= {"role", "class", "width", "height", "viewBox", "x", "y"}
height = float(root.get("height"))
assert height <= 1450, f"{height} pixels high"
assert len(text) <= 2500000, f"{len(text)} bytes"
for e in root.iter():
    for name in ("x", "y", "width", "height"):
        assert 0 <= float(e.get(name, 0)) <= max(1200, height), e.attrib
    if e.tag.endswith("rect"):
        assert float(e.get("x")) + float(e.get("width")) <= 1200 and float(e.get("y")) + float(e.get("height")) <= height, e.attrib
assert max(map(len, text.split("\n"))) < 1500, "a name was not cut"
EOF

# What others wrote is stored before, SEGMENTS BLOCKS POOLS NAME.
cat >make.py <<'EOF'
import pickle
import sys

MIB = 1 << 20
n, blocks, pools = map(int, sys.argv[2:5])
names = ["<script>alert(1)</script>", "</title></svg><b>", '" onload="x', "]]>", "\x1b[2J\0", "\ufffe", "\u202egnp.x", "W" * 5000] + [f"site{i}" for i in range(20)]
segments = []
for i in range(n):
    size = (2 if i % 3 else 20) * MIB
    each = max(512, size // (blocks + 1) // 512 * 512)
    segment = {"device": 0, "address": (i + 1) << 28, "total_size": size, "stream": i % 2, "segment_type": "large",
               "segment_pool_id": (i % pools, 0), "frames": [], "blocks": []}
    at = segment["address"]
    for k in range(blocks):
        name = names[(i + k) % len(names)]
        segment["blocks"].append({"address": at, "size": each, "requested_size": each, "state": "inactive" if k % 4 == 3 else "active_allocated",
                                  "frames": [{"name": name, "filename": f"{name}.py", "line": k}]})
        at += each
    segment["blocks"].append({"address": at, "size": segment["address"] + size - at, "requested_size": 0, "state": "inactive", "frames": []})
    segment["allocated_size"] = segment["active_size"] = sum(b["size"] for b in segment["blocks"] if b["state"] == "active_allocated")
    segments.append(segment)
with open(sys.argv[1], "wb") as f:
    pickle.dump({"segments": segments, "device_traces": [[]]}, f)
EOF

check() { # SNAPSHOT
    "$MEMTOOL" import "$1" --db t.db --name "s$seen" --replace >log 2>&1 || { fail "import $1"; return; }
    "$MEMTOOL" segments "s$seen" --db t.db --format svg -o t.svg 2>log || { fail "$1: $(cat log)"; return; }
    python3 judge.py t.svg 2>log || fail "$1: $(tail -n 1 log)"
    seen=$((seen + 1))
}

for snapshot in "$SAMPLES"/snapshots/*.pickle; do
    case $snapshot in
        */skip_segments.pickle | */bare_list.pickle | */host*.pickle) ;; # nothing to draw
        *) check "$snapshot" ;;
    esac
done
[ $seen -ge 10 ] || fail "only $seen snapshots seen"

for made in "1010 2 1" "1010 2 40" "6000 1 3" "300 200 1" "2 9000 1"; do
    # shellcheck disable=SC2086
    python3 make.py made.pickle $made || { fail "made $made"; continue; }
    check made.pickle
    [ "$(grep -c '<svg' t.svg)" = 1 ] || fail "$made: a name became markup"
    segments=${made%% *}
    drawn=$(($(grep -c 'class="seg"' t.svg) - 1)) # one is in the legend
    [ $drawn = "$segments" ] || { [ "$segments" -gt 3000 ] && grep -q 'Not drawn: the smallest 3,000 segments' t.svg; } ||
        fail "$made: $drawn segments drawn"
done
echo "$seen snapshots, $fails complaints"
[ $fails = 0 ]
