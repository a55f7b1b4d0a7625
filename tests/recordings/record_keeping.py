"""Records programs that keep tensors from step to step, and such that do not: FOLDER/NAME.json.zst.

What each keeps is printed as the program itself counts it: bytes and blocks after the first step and after
the last (`test_advice.py` has these figures). python3 record_keeping.py FOLDER [NAME...]
"""
import collections
import json
import subprocess
import sys
import tempfile

import torch
from torch import nn
import torch.nn.utils.prune
from torch.profiler import ProfilerActivity, profile

STEPS, TOKENS = 8, 12
ARGS = ("Sequence number", "Fwd thread id", "Input Dims", "Input type", "Concrete Inputs", "Device Type", "Device Id", "Addr", "Bytes", "Total Allocated", "Total Reserved")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU())
        self.head = nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.trunk(x))


def train(keep):
    """keep(model, outputs): what is kept of a step."""
    model, kept = Net(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(STEPS):
        x, y = torch.randn(128, 64), torch.randint(0, 10, (128,))
        outputs = model(x)
        loss = nn.functional.cross_entropy(outputs, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        kept.append(keep(model, outputs))
        yield kept


def keep_outputs():
    return train(lambda model, outputs: outputs)


def keep_outputs_not():
    return train(lambda model, outputs: outputs.mean().item())


def keep_gradients():
    return train(lambda model, outputs: model.trunk[0].weight.grad)


def keep_gradients_not():
    return train(lambda model, outputs: model.trunk[0].weight.grad.norm().item())


def hooked(collect):
    """A forward hook keeps what collect() makes of the trunk's result."""
    model, kept = Net(), []
    model.trunk.register_forward_hook(lambda module, args, result: kept.append(collect(result)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(STEPS):
        x, y = torch.randn(128, 64), torch.randint(0, 10, (128,))
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield kept


def keep_hooks():
    return hooked(lambda result: result.detach())


def keep_hooks_not():
    return hooked(lambda result: result.detach().norm().item())


def features(kept):
    """A cache of what the trunk makes, without a graph."""
    model = Net().eval()
    for _ in range(STEPS):
        with torch.no_grad():
            result = model.trunk(torch.randn(256, 64))
            model.head(result)
        kept.append(result)
        yield kept


def keep_features():
    return features([])


def keep_features_bounded():
    return features(collections.deque(maxlen=1))


def keep_tokens():
    """Keys and values of all tokens so far, in a list: meant to grow."""
    layer, past = nn.Linear(64, 192), []
    for _ in range(TOKENS):
        with torch.inference_mode():
            q, k, v = layer(torch.randn(8, 16, 64)).chunk(3, -1)
            past += [k.clone(), v.clone()]
            torch.softmax(q @ past[-2].transpose(1, 2), -1) @ past[-1]
        yield past


def keep_tokens_cat():
    """The same in one tensor, which grows."""
    layer, past = nn.Linear(64, 64), torch.empty(8, 0, 64)
    for _ in range(TOKENS):
        with torch.inference_mode():
            past = torch.cat([past, layer(torch.randn(8, 16, 64))], 1)
        yield [past]


def totals(graph):
    """A list keeps the data; with a graph the total keeps graphs, which hold the data, too."""
    model = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.ReLU()) for _ in range(4)])
    kept, total = [], 0
    for _ in range(STEPS):
        with torch.set_grad_enabled(graph):
            kept.append(torch.randn(256, 64))
            total = total + model(kept[-1]).pow(2).mean()
        yield kept


def keep_data():
    return totals(True)


def keep_data_no_grad():
    return totals(False)


def weights(keep, grad=True, parts=1):
    """Trained, validated on more data than a batch; keep(kept, copies of the weights)."""
    model, kept = Net(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(STEPS):
        optimizer.zero_grad()
        for x, y in zip(torch.randn(128, 64).chunk(parts), torch.randint(0, 10, (128,)).chunk(parts)):
            (nn.functional.cross_entropy(model(x), y) / parts).backward()
        optimizer.step()
        with torch.set_grad_enabled(grad):
            loss = nn.functional.cross_entropy(model(torch.randn(512, 64)), torch.randint(0, 10, (512,)))
        keep(kept, [w.clone() for w in model.state_dict().values()])
        yield kept
    del loss


def last(kept, copies):
    kept[:] = copies


def keep_weights():
    return weights(list.extend)


def keep_weights_not():
    return weights(last)


def keep_weights_no_grad():
    return weights(list.extend, grad=False)


def keep_weights_parts():
    return weights(list.extend, parts=4)


def without_labels(batch, grad):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(STEPS):
        optimizer.zero_grad()
        model(torch.randn(batch, 64)).square().mean().backward()
        optimizer.step()
        with torch.set_grad_enabled(grad):
            validated = model(torch.randn(128, 64)).square().mean()
        yield [validated]


def keep_graph():
    """That of a validation, of as much as a batch, until the next one."""
    return without_labels(128, True)


def keep_graph_small():
    """Not kept, and a batch is a quarter of it."""
    return without_labels(32, False)


def learn(batches):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for x, y in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        yield [x]


def keep_batch():
    """One batch for all steps."""
    return learn([(torch.randn(512, 64), torch.randint(0, 10, (512,)))] * STEPS)


def keep_prefetched():
    """Batches that a worker makes ahead."""
    data = torch.utils.data.TensorDataset(torch.randn(STEPS * 512, 64), torch.randint(0, 10, (STEPS * 512,)))
    return learn(torch.utils.data.DataLoader(data, 512, num_workers=2, prefetch_factor=2))


def keep_masks():
    """Masks of weights, made once, in the first step as a schedule has it; alive when the recording ends."""
    global masked
    for step in range(STEPS):
        with torch.profiler.record_function(f"ProfilerStep#{step}"):
            if step == 0:
                model = nn.Sequential(*[layer for _ in range(4) for layer in (nn.Linear(128, 128), nn.ReLU())])
                for layer in model[::2]:
                    nn.utils.prune.l1_unstructured(layer, "weight", 0.5)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(torch.randn(64, 128)), torch.randint(0, 10, (64,))).backward()
            optimizer.step()
        masked = model
        yield [model[0].weight_mask]


def gradients_hooked(keep, early=False, layers=6, none=True, kept=()):
    """A backward hook of each layer keeps the gradient of its result, which is no parameter's."""
    model = nn.Sequential(*[layer for _ in range(layers) for layer in (nn.Linear(128, 128), nn.ReLU())])
    for i, layer in enumerate(model):
        layer.register_full_backward_hook(lambda module, inputs, results, i=i: keep(i, results[0]))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(STEPS):
        loss = nn.functional.cross_entropy(model(torch.randn(64, 128)), torch.randint(0, 10, (64,)))
        optimizer.zero_grad(none)
        loss.backward()
        optimizer.step()
        if early:
            optimizer.zero_grad()
        yield kept


def keep_hooked_gradients():
    """They are given up when the loop ends."""
    kept = []
    return gradients_hooked(lambda i, gradient: kept.append(gradient))


def keep_last_gradients(early=False):
    return gradients_hooked({}.__setitem__, early)


def keep_last_gradients_early():
    return keep_last_gradients(True)


def keep_filled_gradients(none=False):
    kept = []
    return gradients_hooked(lambda i, gradient: kept.append(gradient), layers=2, none=none, kept=kept)


def keep_filled_gradients_none():
    return keep_filled_gradients(True)


PROGRAMS = (keep_outputs, keep_outputs_not, keep_gradients, keep_gradients_not, keep_hooks, keep_hooks_not, keep_features, keep_features_bounded, keep_tokens, keep_tokens_cat, keep_data, keep_data_no_grad, keep_weights, keep_weights_not, keep_weights_no_grad, keep_weights_parts, keep_graph, keep_graph_small, keep_batch, keep_prefetched, keep_masks, keep_hooked_gradients, keep_last_gradients, keep_last_gradients_early, keep_filled_gradients, keep_filled_gradients_none)


def held(kept):
    sizes = [t.untyped_storage().nbytes() for t in kept if isinstance(t, torch.Tensor)]
    return sum(sizes), len(sizes)


def record(program, folder):
    torch.manual_seed(0)
    series = []
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True) as profiler:
        for kept in program():
            series.append(held(kept))
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profiler.export_chrome_trace(file.name)
        events = json.load(open(file.name))["traceEvents"]
    events = [e for e in events if e.get("cat") in ("cpu_op", "user_annotation") or e.get("name") == "[memory]"]
    for e in events:
        e["args"] = {k: v for k, v in e.get("args", {}).items() if k in ARGS}
    data = json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()
    subprocess.run(["zstd", "-q", "-19", "-f", "-o", f"{folder}/{program.__name__}.json.zst"], input=data, check=True)
    print(program.__name__, "keeps", *series[0], "after the first step,", *series[-1], "after the last")


torch.set_num_threads(1)
for one in PROGRAMS:
    if len(sys.argv) < 3 or one.__name__ in sys.argv[2:]:
        record(one, sys.argv[1])
