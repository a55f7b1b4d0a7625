"""What is older than the recordings, where runs are compared: what is told is in every figure, and what is estimated
turns no verdict unsaid.

    MEMTOOL=build/debug/memtool python3 -B tests/matrix/test_older_compared.py
"""

import json
import os

import mt

LOOPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "loops")

m = mt.Matrix()


def loop(name, base=None):
    run = name if base is None else f"told-{base}"
    m.run("import", os.path.join(LOOPS, f"{name}.json.gz"), "--name", run, *(() if base is None else ("--base", str(base))))
    return run


def exits(expected, *args):
    code, out, err = m.run(*args, codes=(0, 1, 3))
    m.check(code == expected, " ".join(args), "exit", code, "expected", expected, "\n", out, err)
    return out


def old_file(path):
    """As it was written before what is older was known of."""
    with open(path) as f:
        whole = json.load(f)
    for device in whole["devices"]:
        for key in [key for key in device if key.startswith("older_")]:
            del device[key]
    with open("old.json", "w") as f:
        json.dump(whole, f)
    return "old.json"


def estimates():
    """Percentages of what was recorded, which the estimates turn; a file holds them, too."""
    for base, new, limit, change in (("data_workers_open", "plain_scheduled", "5%", "20.5 %"), ("plain_scheduled", "list_gan_n_critic", "8%", "7.7 %")):
        m.run("export", "--baseline", base, "-o", base + ".json")
        for against in (base, base + ".json"):
            out = exits(3, "check", new, "--baseline", against, "--max-peak-growth", limit)
            m.check(change in out, new, "against", against, "does not say", change, "\n", out)
        _, _, out = m.run("diff", base, new, "--exit-code", "--threshold", limit, codes=(1, 3))  # 1: by its leak
        m.check("Whether the peak got worse cannot be told" in out, base, new, "diff judges the peak\n", out)
    exits(0, "check", "plain_scheduled", "--baseline", "data_workers_open", "--max-peak-growth", "50%")


def told():
    """One side counts what the other leaves out, or may."""
    for args in ((), ("--op", ".")):
        exits(3, "check", "told-100000", "--baseline", "data_workers_open", "--max-peak-growth", "10%", *args)
        exits(3, "check", "told-0", "--baseline", "data_workers_open", "--max-peak-growth", "10%", *args)
        exits(1, "check", "told-200000", "--baseline", "told-100001", "--max-peak-growth", "10%", *args)
    exits(3, "diff", "data_workers_open", "told-0", "--exit-code")
    m.run("export", "--baseline", "told-100001", "-o", "told.json")
    exits(0, "check", "told-100000", "--baseline", "told.json", "--max-peak-growth", "10%")
    exits(1, "check", "told-200000", "--baseline", "told.json", "--max-peak-growth", "10%")
    out = exits(3, "check", "told-200000", "--baseline", old_file("told.json"), "--max-peak-growth", "10%")
    m.check("anew" in out, "an old file", "is not said to be old\n", out)


def main():
    for name in ("data_workers_open", "plain_scheduled", "list_gan_n_critic"):
        loop(name)
    for base in (0, 100000, 200000, 300000):
        loop("plain_scheduled", base)
    loop("data_workers_open", 100001)
    estimates()
    told()
    m.finish(60)


main()
