"""Grows by 4 MiB a second, has 24 MiB more in the middle, and a child that lives three seconds."""
import subprocess
import sys
import time

kept = []
for second in range(10):
    kept.append(bytearray(b"x" * (4 << 20)))
    more = bytearray(b"x" * (24 << 20)) if 4 <= second < 6 else None
    if second == 3:
        child = subprocess.Popen([sys.executable, "-c", "import time; b = b'x' * (8 << 20); time.sleep(3)"])
    time.sleep(1)
    del more
child.wait()
