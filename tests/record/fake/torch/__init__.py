"""As much of PyTorch as `memtool record --torch` and its tests use: a profiler that writes a trace, tensors of
bytes, an optimizer, a GPU's allocator (FAKE_CUDA=1). For machines without PyTorch."""
import json
import os
import pickle
import sys
import threading
import time
import types

__version__ = "2.13.0+fake"
_running = None  # the profiler
_allocated = 0
_address = 1 << 20  # of the next tensor


def _module(name, **names):
    module = types.ModuleType("torch." + name)
    module.__dict__.update(names)
    sys.modules["torch." + name] = module
    outer, _, inner = ("torch." + name).rpartition(".")
    setattr(sys.modules[outer], inner, module)
    return module


def _memory(address, n, of=None):
    global _allocated
    _allocated += n
    if _running:
        _running.events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "args": {
            "Total Allocated": _allocated, "Total Reserved": 0, "Addr": address, "Bytes": n, "Device Id": -1,
            "Device Type": 0}, "ts": time.time_ns() / 1000, "pid": os.getpid(), "tid": os.getpid()})


class empty:
    def __init__(self, n):
        start = time.time_ns()
        self.data = bytearray(n)
        for i in range(0, n, 4096):
            self.data[i] = 1
        global _address
        self.n, self.address, _address = n, _address, _address + n
        _memory(self.address, n)
        if _running:
            _running.event("cpu_op", "aten::empty", start)

    def __del__(self):
        _memory(self.address, -self.n)


class _Kineto:
    """torch.autograd.profiler.profile"""

    def _prepare_trace(self):
        global _running
        if _running:
            raise RuntimeError("Profiler is already enabled on this thread")
        mib = int(os.environ.get("FAKE_START_MIB", "0"))  # what it needs to start
        self.needs = b"x" * (mib << 20)
        time.sleep(0.1 if mib else 0)
        self.events = []
        self.open = None  # an event that has not ended
        _running = self

    def _disable(self):
        global _running
        if _running is not self:
            raise RuntimeError("Can't disable Kineto profiler when it's not running")
        _running = None
        if self.open:  # ends it, as Kineto does
            self.event(*self.open)

    def event(self, category, name, start):
        self.events.append({"ph": "X", "cat": category, "name": name, "ts": start / 1000,
                            "dur": (time.time_ns() - start) / 1000, "pid": os.getpid(), "tid": os.getpid(), "args": {}})


class _Profile:
    """torch.profiler.profile"""

    def __init__(self, activities=None, profile_memory=False, record_shapes=False, with_stack=False):
        self.metadata = {"profile_memory": int(profile_memory), "with_stack": int(with_stack)}

    def start(self):
        if os.environ.get("FAKE_BROKEN"):
            raise RuntimeError("no profiler today")
        self.profiler = autograd.profiler.profile()
        self.profiler._prepare_trace()

    def stop(self):
        self.profiler._disable()

    def add_metadata_json(self, key, text):
        self.metadata[key] = json.loads(text)

    def export_chrome_trace(self, path):
        with open(path, "w") as out:
            json.dump({"schemaVersion": 1, **self.metadata, "displayTimeUnit": "ms", "baseTimeNanoseconds": 0,
                       "traceEvents": self.profiler.events}, out, indent=1)

    __enter__ = lambda self: self.start() or self  # noqa: E731
    __exit__ = lambda self, *_: self.stop()  # noqa: E731


def _disable_profiler():
    global _running
    _running = None


_hooks = []


class _Optimizer:
    def step(self):
        event = ("user_annotation", "Optimizer.step#Fake.step", time.time_ns())
        if _running:
            _running.open = event
        state = empty(4096)
        del state
        for hook in _hooks:
            hook(self, (), {})
        if _running:
            _running.event(*event)
            _running.open = None


# ---- a GPU that has no memory ----

_lazy = []


def _lazy_call(call):
    _lazy.append(call)


def _write(path):
    at = time.time_ns()
    blocks = [{"address": at, "size": 512, "requested_size": 512, "state": "active_allocated", "frames": []},
              {"address": at + 512, "size": 2096640, "requested_size": 0, "state": "inactive", "frames": []}]
    segment = {"device": 0, "address": at, "total_size": 2097152, "allocated_size": 512, "active_size": 512,
               "requested_size": 512, "stream": 0, "segment_type": "small", "blocks": blocks}
    with open(path, "wb") as out:
        pickle.dump({"segments": [segment], "device_traces": [[]]}, out)


def _use_cuda():
    for call in _lazy:
        call()


autograd = _module("autograd", _profiler_enabled=lambda: _running is not None, _disable_profiler=_disable_profiler)
_module("autograd.profiler", profile=_Kineto)
_module("profiler", profile=_Profile, ProfilerActivity=types.SimpleNamespace(CPU=0))
optim = _module("optim", Optimizer=_Optimizer)
_module("optim.optimizer", register_optimizer_step_post_hook=_hooks.append)
del optim.optimizer  # as torch does
cuda = _module("cuda", _lazy_call=_lazy_call, init=_use_cuda)
_module("cuda.memory", _record_memory_history=lambda max_entries: None, _dump_snapshot=_write)
_C = types.SimpleNamespace(_cuda_attach_out_of_memory_observer=lambda observer: setattr(cuda, "oom", observer))
