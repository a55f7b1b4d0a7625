"""Records a model that FSDP2 shards, on the CPU with gloo: of the first of two ranks FOLDER/sharded.json.zst, and in
FOLDER/sharded.json what the program said of each block. python3 record_sharded.py FOLDER"""
import json
import os
import sys

import torch
from torch import distributed, multiprocessing, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.profiler import ProfilerActivity, profile, record_function

from record_rebuilt import letters_of, said


def tell(model, optimizer, batch):
    found = {}
    for letter, tensors in (("p", model.parameters()), ("g", (p.grad for p in model.parameters())), ("i", [batch]),
                            ("o", (t for s in optimizer.state.values() for t in s.values()))):
        for t in tensors:
            t = t.to_local() if hasattr(t, "to_local") else t
            found[t.untyped_storage().data_ptr()] = letter
    with record_function(f"said {len(said)}"):
        pass
    said.append(found)


def train(steps):
    mesh = init_device_mesh("cpu", (2,))
    model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 32))
    for layer in (model[0], model[2], model):
        fully_shard(layer, mesh=mesh)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(steps):
        x = torch.randn(40, 64)
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        tell(model, optimizer, x)
        optimizer.step()


def run(rank, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29577")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", rank=rank, world_size=2)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        train(4)
    if rank == 0:
        with open(f"{folder}/sharded.json", "w") as out:
            json.dump({"sharded": letters_of(profiler, f"{folder}/sharded.json.zst")}, out, indent=1)
    distributed.destroy_process_group()


if __name__ == "__main__":
    multiprocessing.spawn(run, (sys.argv[1],), 2)
