#!/usr/bin/env python3
"""What docs/recorders.md says of one program is what memtool says of its recordings."""

import os

import mt

SAMPLES = os.path.join(os.environ["SAMPLES"], "heap")
FILES = {"dhat": "dhat_200k.json", "massif": "massif_200k.out", "gperftools": "gperftools_200k.heap.zst", "jemalloc": "jemalloc_200k.heap.zst"}
FIGURES = {"allocated": "alloc_b", "peak": "peak_b", "alive at the end": "at_end_b"}
m = mt.Matrix()

with open(os.path.join(SAMPLES, "..", "..", "docs", "recorders.md"), encoding="utf-8") as page:
    rows = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in page if line.startswith("|")]
recorders = [name for name in rows[0] if name]
for recorder in set(recorders) & set(FILES):
    m.run("import", os.path.join(SAMPLES, FILES[recorder]), "--name", recorder, "--no-symbols")
    device = m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{recorder}'")[0]
    for row in rows[2:]:
        said = row[1 + recorders.index(recorder)].replace(",", "")
        m.check(said == ("-" if device[FIGURES[row[0]]] is None else str(device[FIGURES[row[0]]])), recorder, row[0], said, device)
m.finish(12)
