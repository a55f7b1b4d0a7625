"""Records what PyTorch allocates, for `memtool record --torch`. The program is not changed: memtool puts this
file's folder in front of PYTHONPATH, and Python runs it when it starts.

When torch is imported in the main thread, a profiler starts. It ends after some steps of optimizers, when the
program starts a profiler of its own, or at exit. Into the folder $MEMTOOL_TORCH go, for each process:

    PID.json          the trace; PID.pickle, PID.oom-N.pickle: what CUDA's allocator had at exit, and when it
                      ran out
    PID.said          what became of it: lines of "KEY VALUE", written anew whenever that changes
    PID.steps         a line for each step of an optimizer, whose number is first: "0 1795253488000000000"
    python            empty: a Python came by here

The end of a full collection of garbage is a mark of the process: "gc 1", "gc 2", ...

It never raises into the program, and writes neither to its stdout nor to its stderr. Python 3.8 and later; PyTorch
2.0 and later.
"""
import atexit
import gc
import os
import sys
import time

FOLDER = os.environ.get("MEMTOOL_TORCH")
STEPS = int(os.environ.get("MEMTOOL_TORCH_STEPS") or 0)  # of optimizers; 0: all
STACKS = bool(os.environ.get("MEMTOOL_TORCH_STACKS"))
MARKS = 1000  # of collections
TIMES = 100000  # of steps
CUDA_EVENTS = 100000  # kept of the history of CUDA's allocator


class Said:
    """What memtool is told of this process."""

    def __init__(self):
        self.lines = {}

    def __call__(self, **news):
        self.lines.update(news)
        path = os.path.join(FOLDER, "%d.said" % os.getpid())
        try:
            with open(path + ".part", "w") as out:
                for key, value in self.lines.items():
                    out.write("%s %s\n" % (key, " ".join(str(value).split())))
            os.replace(path + ".part", path)
        except OSError:
            pass  # memtool is gone


said = Said()


def mark(text):
    """A mark of the process's run. The number may be that of another file by now, or in this process."""
    fd = os.environ.get("MEMTOOL_FD", "")
    try:
        if os.readlink("/proc/self/fd/" + fd).startswith("/memfd:memtool-marks"):
            os.write(int(fd), ("memtool:mark %s\n" % text).encode())
    except (OSError, ValueError):
        pass


class Recording:
    """One profiler, from its start to the file."""

    def __init__(self, torch):
        self.torch = torch
        self.pid = os.getpid()
        self.profiler = None
        self.busy = False  # our own calls of the profiler
        self.steps = 0
        self.optimizers = {}  # their numbers
        self.times = []  # of steps, not written yet
        self.written_ns = 0
        self.ooms = 0
        self.collections = 0

    def path(self, ending):
        return os.path.join(FOLDER, "%d.%s" % (self.pid, ending))

    def begin(self):
        import threading

        from torch.optim.optimizer import register_optimizer_step_post_hook

        said(torch=self.torch.__version__, rank=os.environ.get("RANK", ""), state="running")
        if threading.current_thread() is not threading.main_thread():
            return said(state="failed", why="torch was imported in another thread than the main one")
        if self.torch.autograd._profiler_enabled():
            return said(state="yielded", why="another profiler runs")
        self.watch_others()
        register_optimizer_step_post_hook(self.after_step)
        self.torch.cuda._lazy_call(self.begin_cuda)
        self.start()
        gc.callbacks.append(self.on_collection)
        os.register_at_fork(after_in_child=self.in_child)
        atexit.register(self.at_exit)
        if "multiprocessing.util" in sys.modules:  # its processes end without atexit
            sys.modules["multiprocessing.util"].Finalize(None, self.at_exit, exitpriority=100)

    def start(self):
        from torch.profiler import ProfilerActivity, profile

        before = time.time_ns()
        quiet = "KINETO_LOG_LEVEL" not in os.environ  # else it writes to stderr
        if quiet:
            os.environ["KINETO_LOG_LEVEL"] = "6"
        self.busy = True
        try:
            profiler = profile(
                activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True, with_stack=STACKS
            )
            profiler.start()
            self.profiler = profiler
        finally:
            self.busy = False
            if quiet:
                del os.environ["KINETO_LOG_LEVEL"]
        said(started="%d %d" % (before, time.time_ns()))

    def stop(self, state, why, ended):
        """Ends the profiler and writes the trace, once. ended: by what, for the trace."""
        profiler, self.profiler = self.profiler, None
        if profiler is None or os.getpid() != self.pid:
            return
        before = time.time_ns()
        self.busy = True
        try:
            profiler.add_metadata_json("memtool_process", '{"pid": %d, "ended": "%s"}' % (self.pid, ended))
            profiler.stop()
            profiler.export_chrome_trace(self.path("part.json"))
            os.replace(self.path("part.json"), self.path("json"))
            said(state=state, why=why, steps=self.steps, stopped="%d %d" % (before, time.time_ns()))
        except Exception as e:
            said(state="failed", why=repr(e))
        finally:
            self.busy = False

    def watch_others(self):
        """PyTorch has one profiler at a time: that of the program goes first."""
        cls = self.torch.autograd.profiler.profile
        prepare = cls._prepare_trace

        def prepare_trace(profiler, *args, **kwargs):
            if not self.busy:
                self.stop("yielded", "the program started a profiler of its own", "another")
            return prepare(profiler, *args, **kwargs)

        cls._prepare_trace = prepare_trace

    def after_step(self, optimizer, *_):
        self.steps += 1
        if self.steps <= TIMES and os.getpid() == self.pid:
            now = time.time_ns()
            self.times.append("%d %d\n" % (self.optimizers.setdefault(id(optimizer), len(self.optimizers)), now))
            if now - self.written_ns > 1000000000:
                self.write_times(now)
        if self.steps == STEPS:
            self.stop("recorded", "", "steps")

    def write_times(self, now):
        """Those after the profiler's end are in no trace."""
        times, self.times, self.written_ns = self.times, [], now
        try:
            with open(self.path("steps"), "a") as out:
                out.writelines(times)
        except OSError:
            pass  # memtool is gone

    def in_child(self):
        """A fork has the profiler's events, and would collect more for nobody."""
        gc.callbacks.remove(self.on_collection)
        profiler, self.profiler = self.profiler, None
        if profiler is not None:
            try:
                self.torch.autograd._disable_profiler()
            except Exception:
                pass

    def on_collection(self, phase, info):
        if phase == "stop" and info.get("generation") == 2 and self.collections < MARKS:
            self.collections += 1
            mark("gc %d" % self.collections)

    def at_exit(self):
        if self.on_collection in gc.callbacks:
            gc.callbacks.remove(self.on_collection)
        self.stop("recorded", "", "exit")
        if os.getpid() == self.pid and self.times:
            self.write_times(0)
        self.dump_cuda("pickle")

    # ---- CUDA: when the program first uses it ----

    def begin_cuda(self):
        try:
            self.torch.cuda.memory._record_memory_history(max_entries=CUDA_EVENTS)
            self.torch._C._cuda_attach_out_of_memory_observer(self.out_of_memory)
            said(cuda="recorded")
        except Exception as e:
            said(cuda=repr(e))

    def out_of_memory(self, *_):
        self.ooms += 1
        if self.ooms <= 3:  # a program may go on
            self.dump_cuda("oom-%d.pickle" % self.ooms)

    def dump_cuda(self, ending):
        if said.lines.get("cuda") != "recorded" or os.getpid() != self.pid:
            return
        try:
            self.torch.cuda.memory._dump_snapshot(self.path("part.pickle"))
            os.replace(self.path("part.pickle"), self.path(ending))
        except Exception as e:
            said(cuda=repr(e))


class Finder:
    """Knows when torch has been imported. It stays until then: programs also ask where torch would be."""

    asked = False

    def find_spec(self, name, path=None, target=None):
        if name != "torch" or path is not None or self.asked:
            return None
        self.asked = True
        try:
            from importlib.util import find_spec

            spec = find_spec(name)
        finally:
            self.asked = False
        if spec is None:
            said(state="missing", why="torch is not installed")
        elif hasattr(spec.loader, "exec_module"):
            self.follow(spec.loader)
        return spec

    def follow(self, loader):
        run = loader.exec_module

        def exec_module(module):
            del loader.exec_module
            run(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            try:
                Recording(module).begin()
            except Exception as e:
                said(state="failed", why=repr(e))

        loader.exec_module = exec_module


def run_other():
    """The sitecustomize that Python would have run without us."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != here]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        sys.modules["sitecustomize"] = module = module_from_spec(spec)
        spec.loader.exec_module(module)


if FOLDER and os.path.isdir(FOLDER):
    try:
        open(os.path.join(FOLDER, "python"), "w").close()
    except OSError:
        pass
    sys.meta_path.insert(0, Finder())
run_other()
