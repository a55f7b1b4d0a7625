#!/usr/bin/env python3
"""Writes a large synthetic PyTorch GPU trace: gen_trace.py OUT (--mb N | --ops N) [--seed N]
[--shuffle] [--lean]

The same arguments give the same bytes. The shapes are those of real traces: Python frames, nested
operators with shapes, a backward thread with sequence numbers, runtime calls, kernels and flows,
[memory] records of one device; per thread all operators, then all records, kernels last.

--shuffle  the same events in random order
--lean     only operators, frames and records, on one line each: many operators in few bytes

A training step is built once (in three variants) as a text with holes for what differs between
steps: times and ids. Every step then is one string formatting. No two moments of a thread are equal,
so the answer does not depend on the order of events.
"""

import argparse
import os
import random

PID, MAIN, BACKWARD = 1102, 1102, 1262
START_US = 5_000_000_000  # small enough that a double holds the nanoseconds

# Operators that call others; what is not a key has no children.
CALLS = {
    "aten::linear": ["aten::t", "aten::addmm"],
    "aten::t": ["aten::transpose"],
    "aten::transpose": ["aten::as_strided"],
    "aten::conv2d": ["aten::convolution"],
    "aten::convolution": ["aten::_convolution"],
    "aten::_convolution": ["aten::cudnn_convolution", "aten::reshape", "aten::add_"],
    "aten::reshape": ["aten::view"],
    "aten::layer_norm": ["aten::native_layer_norm"],
    "aten::native_layer_norm": ["aten::empty", "aten::empty", "aten::view"],
    "aten::softmax": ["aten::_softmax"],
    "aten::dropout": ["aten::native_dropout"],
    "aten::native_dropout": ["aten::empty_like"],
    "aten::empty_like": ["aten::empty_strided"],
    "aten::matmul": ["aten::expand", "aten::reshape", "aten::bmm", "aten::_unsafe_view"],
    "aten::expand": ["aten::as_strided"],
    "aten::relu": ["aten::clamp_min"],
    "aten::contiguous": ["aten::clone"],
    "aten::clone": ["aten::empty_like", "aten::copy_"],
    "aten::to": ["aten::_to_copy"],
    "aten::_to_copy": ["aten::empty_strided", "aten::copy_"],
    "aten::cross_entropy_loss": ["aten::log_softmax", "aten::nll_loss_nd"],
    "aten::log_softmax": ["aten::_log_softmax"],
    "aten::nll_loss_nd": ["aten::nll_loss"],
}
TOP = [
    "aten::linear", "aten::conv2d", "aten::layer_norm", "aten::softmax", "aten::dropout",
    "aten::matmul", "aten::relu", "aten::contiguous", "aten::to", "aten::cross_entropy_loss",
    "aten::gelu", "aten::add", "aten::mul",
]  # fmt: skip
ALLOCATES = {
    "aten::empty", "aten::empty_strided", "aten::addmm", "aten::bmm", "aten::_softmax",
    "aten::gelu", "aten::add", "aten::mul", "aten::cudnn_convolution", "aten::clamp_min",
}  # fmt: skip
LAUNCHES = ALLOCATES - {"aten::empty", "aten::empty_strided"} | {"aten::copy_", "aten::add_"}
KERNELS = [
    "ampere_sgemm_128x64_tn",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
    "at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>, at::detail::Array<char*, 1>)",
    "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>"
    "(cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4::Params)",
]
FRAMES = [
    "torch/nn/modules/module.py(1501): _call_impl",
    "torch/nn/modules/container.py(215): forward",
    "torch/nn/modules/linear.py(113): forward",
    "torch/nn/functional.py(2503): layer_norm",
    "model/encoder.py(88): forward",
    "model/attention.py(41): forward",
    "model/mlp.py(27): forward",
]
MODULES = ["Linear", "LayerNorm", "EncoderBlock", "MultiheadAttention"]
BACKWARD_NODES = [
    "AddmmBackward0", "NativeLayerNormBackward0", "ConvolutionBackward0", "SoftmaxBackward0",
    "BmmBackward0", "GeluBackward0", "torch::autograd::AccumulateGrad",
]  # fmt: skip
SHAPES = [
    ("[[32, 197, 768], [768, 768], [768]]", '["float", "float", "float"]'),
    ("[[32, 12, 197, 64], [32, 12, 64, 197]]", '["float", "float"]'),
    ("[[32, 197, 3072]]", '["float"]'),
    ("[[], [], [], [], [], []]", '["ScalarList", "Scalar", "Scalar", "Scalar", "Scalar", ""]'),
]
SIZES = [512, 4096, 65536, 605184, 1048576, 2359296, 19365888, 38731776]

SECTIONS = ["main", "main_memory", "backward", "backward_memory", "gpu"]
# What grows from step to step; a hole is a place in a step's text where such a number stands.
COUNTERS = ["us", "event", "external", "correlation", "python", "sequence"]
TIDS = {"main": MAIN, "backward": BACKWARD}


class Step:
    """One training step: per section a list of events, each [text with %d holes, holes], where a
    hole is a pair (counter, offset): that counter's value before the step, plus offset."""

    def __init__(self, seed, lean):
        self.random = random.Random(seed)
        self.lean = lean
        self.sections = {name: [] for name in SECTIONS}
        self.used = dict.fromkeys(COUNTERS, 0)  # how far the step moves each counter
        self.op_n = 0
        self.allocated = 0
        self.free_addresses, self.next_address = [], 0x7F4000000000
        self.temporary, self.kept = [], []  # live blocks: freed soon, at the step's end
        self.used["us"] = self.training_step(0) // 1000 + 10

    # One event each.

    def slot(self, section):
        """A place for an event whose end is not known yet, ahead of its children's."""
        self.sections[section].append(None)
        return len(self.sections[section]) - 1

    def next(self, counter):
        self.used[counter] += 1
        return (counter, self.used[counter])

    def complete(self, section, at, tid, cat, name, start, end, args, holes):
        """Fills slot `at` with an X event. A step begins at a whole microsecond, so that only the
        microseconds of its times differ from step to step."""
        start_us, dur = start // 1000, f"{(end - start) // 1000}.{(end - start) % 1000:03d}"
        if self.lean:
            text = f'{{"ph":"X","cat":"{cat}","name":"{name}","pid":{PID},"tid":{tid},'
            text += f'"ts":%d.{start % 1000:03d},"dur":{dur}}},\n'
            holes = []
        else:
            text = f'  {{\n    "ph": "X", "cat": "{cat}", "name": "{name}", "pid": {PID}, '
            text += f'"tid": {tid},\n    "ts": %d.{start % 1000:03d}, "dur": {dur},\n'
            text += f'    "args": {{\n      {args}\n    }}\n  }},\n'
        self.sections[section][at] = (text, [("us", start_us), *holes])

    def record(self, t, thread, address, size):
        self.allocated += size
        text = f'  {{\n    "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",\n'
        text += f'    "pid": {PID}, "tid": {TIDS[thread]},\n    "ts": %d.{t % 1000:03d},\n'
        text += '    "args": {\n      "Total Reserved": 12782141440, "Total Allocated": '
        text += f'{5435638784 + self.allocated}, "Bytes": {size}, "Addr": {address}, '
        text += '"Device Id": 0, "Device Type": 1, "Ev Idx": %d\n    }\n  },\n'
        if self.lean:
            text = " ".join(text.split()) + "\n"
        self.sections[thread + "_memory"].append((text, [("us", t // 1000), self.next("event")]))

    def flow(self, section, phase, tid, cat, t, id_hole):
        if self.lean:
            return
        text = f'  {{\n    "ph": "{phase}", "id": %d, "pid": {PID}, "tid": {tid}, '
        text += f'"ts": %d.{t % 1000:03d},\n    "cat": "{cat}", "name": "{cat}"'
        text += ', "bp": "e"\n  },\n' if phase == "f" else "\n  },\n"
        self.sections[section].append((text, [id_hole, ("us", t // 1000)]))

    def kernel(self, t, thread, external):
        if self.lean:
            return
        self.op_n += 1  # the runtime call
        correlation = self.next("correlation")
        begin, dur = t + 6000, self.random.randrange(1200, 9000)
        args = '"External id": %d, "device": 0, "stream": 7, "correlation": %d, '
        args += f'"registers per thread": {self.random.choice((32, 64, 255))}, '
        args += f'"grid": [{self.random.randrange(1, 6000)}, 1, 1], "block": [128, 1, 1], '
        args += f'"blocks per SM": {self.random.random() * 20:.6f}, "warps per SM": 32.500000'
        self.complete("gpu", self.slot("gpu"), 7, "kernel", self.random.choice(KERNELS), begin,
                      begin + dur, args, [external, correlation])  # fmt: skip
        self.flow("gpu", "f", 7, "ac2g", begin, correlation)
        self.complete("gpu", self.slot("gpu"), TIDS[thread], "cuda_runtime", "cudaLaunchKernel",
                      t + 200, t + 2200, '"External id": %d, "cbid": 211, "correlation": %d',
                      [external, correlation])  # fmt: skip
        self.flow("gpu", "s", TIDS[thread], "ac2g", t + 200, correlation)

    # Blocks of memory.

    def allocate(self, t, thread):
        size = self.random.choice(SIZES)
        if self.free_addresses and self.random.random() < 0.9:
            address = self.free_addresses.pop()
        else:
            address = self.next_address
            self.next_address += 2 * SIZES[-1]
        self.record(t, thread, address, size)
        keep = self.random.random() < 0.35
        (self.kept if keep else self.temporary).append((address, size))

    def release(self, t, thread, block):
        self.record(t, thread, block[0], -block[1])
        self.free_addresses.append(block[0])

    # What runs; each takes its start and returns its end.

    def operator(self, t, thread, name, forward=None, depth=0):
        start, at = t, self.slot(thread)
        external, event = self.next("external"), self.next("event")
        self.op_n += 1
        shape, types = self.random.choice(SHAPES)
        args, holes = '"External id": %d, "Record function id": 0, ', [external]
        if forward or depth == 0:
            args += f'"Sequence number": %d, "Fwd thread id": {1 if forward else 0}, '
            holes.append(forward or self.next("sequence"))
        args += f'"Input Dims": {shape}, "Input type": {types}, "Ev Idx": %d'
        holes.append(event)
        t += self.random.randrange(300, 2500)
        if name in ALLOCATES:
            self.allocate(t, thread)
            t += 700
            if self.temporary and self.random.random() < 0.3:
                self.release(t, thread, self.temporary.pop())
                t += 300
        if name in LAUNCHES:
            self.kernel(t, thread, external)
            t += self.random.randrange(3000, 12000)
        for child in CALLS.get(name, ()):
            t = self.operator(t + self.random.randrange(50, 700), thread, child, forward, depth + 1)
        t += self.random.randrange(200, 3000)
        self.complete(thread, at, TIDS[thread], "cpu_op", name, start, t, args, holes)
        return t

    def frame(self, t, depth, parent):
        """A Python frame on the main thread, down to frames that call operators."""
        start, at, me = t, self.slot("main"), self.next("python")
        self.op_n += 1
        name, args, holes = self.random.choice(FRAMES), '"Python parent id": %d, ', [parent]
        if self.random.random() < 0.3:
            number = self.random.randrange(48)
            name = f"nn.Module: {self.random.choice(MODULES)}_{number}"
            args += f'"Python module id": {number}, '
        args += '"Python id": %d, "Ev Idx": %d'
        holes += [me, self.next("event")]
        t += self.random.randrange(500, 4000)
        for _ in range(self.random.choice((1, 1, 2))):
            if depth > 0:
                t = self.frame(t, depth - 1, me)
            else:
                t = self.operator(t + 100, "main", self.random.choice(TOP))
        t += self.random.randrange(300, 3000)
        self.complete("main", at, MAIN, "python_function", name, start, t, args, holes)
        return t

    def backward_node(self, t):
        sequence = ("sequence", self.random.randrange(1, self.used["sequence"] + 1))
        args = '"External id": %d, "Record function id": 0, "Sequence number": %d, '
        args += '"Fwd thread id": 1, "Ev Idx": %d'
        name = self.random.choice(BACKWARD_NODES)
        outer_at, outer = self.slot("backward"), t
        inner_at, inner = self.slot("backward"), t + 700
        self.op_n += 2
        outer_holes = [self.next("external"), sequence, self.next("event")]
        inner_holes = [self.next("external"), sequence, self.next("event")]
        t = self.operator(t + 900, "backward", self.random.choice(TOP), sequence, 2) + 400
        self.complete("backward", inner_at, BACKWARD, "cpu_op", name, inner, t, args, inner_holes)
        name = "autograd::engine::evaluate_function: " + name
        self.complete("backward", outer_at, BACKWARD, "cpu_op", name, outer, t + 600, args,
                      outer_holes)  # fmt: skip
        self.flow("backward", "f", BACKWARD, "fwdbwd", inner, sequence)
        self.flow("main", "s", MAIN, "fwdbwd", 1000 * sequence[1], sequence)
        return t + 800

    def training_step(self, t):
        at, external, event = self.slot("main"), self.next("external"), self.next("event")
        self.op_n += 1
        t += 500
        for _ in range(12):
            t = self.frame(t, self.random.choice((6, 8, 9)), ("python", 0))
        for _ in range(200):
            t = self.backward_node(t)
        blocks = self.kept + self.temporary
        self.random.shuffle(blocks)
        for block in blocks:
            t += 300
            self.release(t, "main", block)
        args = '"External id": %d, "Record function id": 0, "Ev Idx": %d'
        name = "ProfilerStep#%d"
        self.complete("main", at, MAIN, "user_annotation", name, 0, t + 500, args,
                      [external, event])  # fmt: skip
        text, holes = self.sections["main"][at]
        self.sections["main"][at] = (text, [("step", 0), *holes])
        return t + 500


def rows(events, separator):
    """A section's events as one format string and the list of its holes."""
    return separator.join(text for text, _ in events) + separator, [
        hole for _, holes in events for hole in holes
    ]


HEADER = """{
  "schemaVersion": 1,
  "deviceProperties": [
    {
      "id": 0, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 42505273344,
      "computeMajor": 8, "computeMinor": 0, "numSms": 108
    }
  ],
  "with_stack": 1, "record_shapes": 1, "profile_memory": 1,
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
"""
FOOTER = """  {
    "name": "process_name", "ph": "M", "ts": %d.000, "pid": %d, "tid": 0,
    "args": {
      "name": "python"
    }
  },
  {
    "name": "Record Window End", "ph": "i", "s": "g",
    "pid": "", "tid": "", "ts": %d.000
  }
  ],
  "traceName": "trace.json"
}
"""


class InOrder:
    """Writes each section to a file of its own; the trace is one after the other."""

    separator = ""

    def __init__(self, path):
        self.paths = {name: f"{path}.{name}" for name in SECTIONS}
        self.files = {name: open(p, "w+") for name, p in self.paths.items()}

    def add(self, section, text):
        self.files[section].write(text)

    def finish(self, out):
        for name, file in self.files.items():
            file.seek(0)
            while text := file.read(1 << 22):
                out.write(text)
            file.close()
            os.unlink(self.paths[name])


class Shuffled:
    """Deals the events onto heaps at random, then shuffles each heap in memory."""

    separator = "\0"

    def __init__(self, path):
        self.random = random.Random(7)
        self.paths = [f"{path}.{i}" for i in range(32)]
        self.files = [open(p, "w+") for p in self.paths]

    def add(self, section, text):
        for event in text.split("\0")[:-1]:
            self.random.choice(self.files).write(event + "\0")

    def finish(self, out):
        for path, file in zip(self.paths, self.files):
            file.seek(0)
            events = file.read().split("\0")[:-1]
            self.random.shuffle(events)
            out.write("".join(events))
            file.close()
            os.unlink(path)


def write(out, path, options):
    writer = Shuffled(path) if options.shuffle else InOrder(path)
    steps = [Step(options.seed * 1000 + i, options.lean) for i in range(3)]
    texts = [
        {name: rows(events, writer.separator) for name, events in step.sections.items()}
        for step in steps
    ]
    at = {**dict.fromkeys(COUNTERS, 1000), "us": START_US, "step": 0}
    done = op_n = 0
    while op_n < options.ops if options.ops else done < options.mb * 1_000_000:
        step = steps[at["step"] % len(steps)]
        for name, (pattern, holes) in texts[at["step"] % len(steps)].items():
            text = pattern % tuple([at[counter] + offset for counter, offset in holes])
            writer.add(name, text)
            done += len(text) - text.count("\0")
        for counter, n in step.used.items():
            at[counter] += n
        at["step"] += 1
        op_n += step.op_n
    out.write(HEADER)
    writer.finish(out)
    out.write(FOOTER % (START_US, PID, at["us"]))
    return at["step"], op_n


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--mb", type=float, help="size in 1,000,000 bytes")
    size.add_argument("--ops", type=int, help="operators, annotations, frames and runtime calls")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shuffle", action="store_true")
    parser.add_argument("--lean", action="store_true")
    options = parser.parse_args()
    with open(options.out, "w", buffering=1 << 20) as out:
        step_n, op_n = write(out, options.out, options)
    print(f"{options.out}: {os.path.getsize(options.out):,} bytes, {step_n} steps, {op_n:,} ops")


if __name__ == "__main__":
    main()
