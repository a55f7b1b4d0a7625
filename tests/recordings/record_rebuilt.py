"""Records models that are built again in one recording, put into one or frozen in part, and an optimizer whose state was loaded:
FOLDER/NAME.json.zst, and in FOLDER/rebuilt.json what the program said of each block. python3 record_rebuilt.py FOLDER"""
import copy
import io
import json
import sys
import types

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

from record_models import events_of, write

said = []  # one for each time that was asked: {address: letter}


def tell(model, optimizer, batch):
    """p parameter, b buffer, g gradient, o optimizer state, i input; when, a mark in the recording says."""
    found = {}
    for letter, tensors in (("p", model.parameters()), ("b", model.buffers()), ("i", [batch]),
                            ("g", (p.grad for p in model.parameters() if p.grad is not None)),
                            ("o", (t for s in optimizer.state.values() for t in s.values() if torch.is_tensor(t)))):
        for t in tensors:
            found[t.untyped_storage().data_ptr()] = letter
    with record_function(f"said {len(said)}"):
        pass
    said.append(found)


def small():
    frozen = nn.Embedding(50, 32)
    frozen.weight.requires_grad_(False)
    return nn.Sequential(frozen, nn.Linear(32, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 10))


def train(model, optimizer, steps=2):
    for _ in range(steps):
        x = torch.randint(50, (64,))
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        tell(model, optimizer, x)


def evaluate(model):
    model.eval()
    with torch.no_grad():
        model(torch.randint(50, (64,))).mean().item()


def swept():
    for lr in (0.1, 0.01, 0.001):
        model = small()
        train(model, torch.optim.Adam(model.parameters(), lr=lr))
        evaluate(model)


def folded():
    first = small()
    for _ in range(3):
        model = copy.deepcopy(first)
        train(model, torch.optim.SGD(model.parameters(), lr=0.1))
        evaluate(model)


def folded_adam():
    first = small()
    for _ in range(3):
        model = copy.deepcopy(first)
        train(model, torch.optim.Adam(model.parameters(), foreach=True))


def averaged():
    """No model is built again: an average of the weights is."""
    model = small()
    optimizer = torch.optim.Adam(model.parameters())
    average = None
    for _ in range(4):
        train(model, optimizer, 1)
        average = copy.deepcopy(model)
    evaluate(average)


def extended():
    """No model is built again: a layer is added to one."""
    model = small()
    optimizer = torch.optim.Adam(model.parameters())
    train(model, optimizer, 3)
    head = nn.Linear(10, 7)
    optimizer.add_param_group({"params": head.parameters()})
    train(nn.Sequential(model, nn.ReLU(), head), optimizer, 3)


def resumed(file):
    model = small()
    average = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(model.parameters())
    loaded = torch.load(file)
    model.load_state_dict(loaded["model"])
    optimizer.load_state_dict(loaded["optimizer"])
    del loaded
    train(model, optimizer, 3)
    evaluate(average)


def resumed_partly(file):
    """One of two models comes with a checkpoint, the other is new."""
    model = small()
    optimizer = torch.optim.AdamW(model.parameters())
    loaded = torch.load(file)
    model.load_state_dict(loaded["model"])
    optimizer.load_state_dict(loaded["optimizer"])
    del loaded
    head = nn.Linear(10, 7)
    second = torch.optim.AdamW(head.parameters())
    both = nn.Sequential(model, nn.ReLU(), head)
    for _ in range(3):
        x = torch.randint(50, (64,))
        both.zero_grad()
        both(x).pow(2).mean().backward()
        optimizer.step()
        second.step()
        tell(both, types.SimpleNamespace(state={**optimizer.state, **second.state}), x)


def resumed_behind(file):
    """A step makes state for the checkpoint to take the place of."""
    model = small()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0)
    for p in model.parameters():
        p.grad = torch.zeros_like(p) if p.requires_grad else None
    optimizer.step()
    optimizer.zero_grad()
    optimizer.load_state_dict(torch.load(file)["optimizer"])
    train(model, optimizer, 3)


def rolled_back():
    """Back to a checkpoint, twice."""
    model = small()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        train(model, optimizer)
        file = io.BytesIO()
        torch.save(optimizer.state_dict(), file)
        train(model, optimizer, 1)
        file.seek(0)
        optimizer.load_state_dict(torch.load(file))
    train(model, optimizer)


class Adapted(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(1, layer.in_features) * 0.02)
        self.up = nn.Parameter(torch.zeros(layer.out_features, 1))

    def forward(self, x):
        return self.layer(x) + x @ self.down.t() @ self.up.t()


def adapted():
    """Factors as large as the biases of frozen layers, and data as large as what learns beside them."""
    model = nn.Sequential(*(Adapted(nn.Linear(32, 32)) for _ in range(3)), nn.Linear(32, 8))
    data = [(torch.randn(8, 32) * 2).detach() for _ in range(4)]
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad])
    for x in data:
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        tell(model, optimizer, torch.empty(0))


def stacked():
    """Parameters of an ensemble, stacked for torch.vmap: what learns is computed from what does not."""
    layers = [nn.Sequential(nn.Linear(32, 48), nn.LayerNorm(48), nn.ReLU(), nn.Linear(48, 10)) for _ in range(4)]
    parameters, buffers = torch.func.stack_module_state(layers)
    optimizer = torch.optim.Adam(parameters.values())
    members = types.SimpleNamespace(parameters=parameters.values, buffers=buffers.values)
    for _ in range(3):
        x = torch.randn(64, 32)
        optimizer.zero_grad()
        run = torch.vmap(lambda p, b: torch.func.functional_call(layers[0], (p, b), (x,)))
        run(parameters, buffers).pow(2).mean().backward()
        optimizer.step()
        tell(members, optimizer, x)


def saved():
    model = small()
    optimizer = torch.optim.AdamW(model.parameters())
    train(model, optimizer, 1)
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    return file


def record(program, folder):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    given = [saved()] if program.__name__.startswith("resumed") else []
    said.clear()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        program(*given)
    return letters_of(profiler, f"{folder}/{program.__name__}.json.zst")


def letters_of(profiler, path):
    events = events_of(profiler)
    write(events, path)
    memory = sorted((e for e in events if e["name"] == "[memory]"), key=lambda e: e["ts"])
    times = [next(e["ts"] for e in events if e["name"] == f"said {i}") for i in range(len(said))]
    letters, at = [], {}
    for e in memory + [{"ts": float("inf"), "args": {"Bytes": 0, "Addr": 0}}]:
        while times and times[0] < e["ts"]:
            times.pop(0)
            for address, letter in said.pop(0).items():
                if address in at:
                    letters[at[address]] = letter
        if e["args"]["Bytes"] > 0:
            at[e["args"]["Addr"]] = len(letters)
            letters.append("-")
        else:
            at.pop(e["args"]["Addr"], None)
    return "".join(letters)


if __name__ == "__main__":
    programs = (swept, folded, folded_adam, averaged, extended, adapted, stacked, resumed, resumed_partly, resumed_behind, rolled_back)
    truth = {p.__name__: record(p, sys.argv[1]) for p in programs}
    with open(f"{sys.argv[1]}/rebuilt.json", "w") as out:
        json.dump(truth, out, indent=1)
