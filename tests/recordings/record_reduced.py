"""Records models whose gradients DistributedDataParallel reduces in buckets, on the CPU with gloo: of the first of two ranks
FOLDER/NAME.json.zst, and in FOLDER/reduced.json what the program said of each block. python3 record_reduced.py FOLDER"""
import json
import os
import sys

import torch
from torch import distributed, multiprocessing, nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile

from record_rebuilt import letters_of, said, tell


def build(views):
    layers = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 32))
    model = DistributedDataParallel(layers, gradient_as_bucket_view=views)
    return model, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)


def train(model, optimizer, steps=4):
    for _ in range(steps):
        x = torch.randn(40, 64)
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        tell(model, optimizer, x)  # of views, the buckets are said to be gradients
        optimizer.step()


def record(name, views, before, folder):
    torch.manual_seed(0)
    said.clear()
    built = build(views) if before else None
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        train(*(built or build(views)))
    return letters_of(profiler, f"{folder}/{name}.json.zst")


def run(rank, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29578")
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", rank=rank, world_size=2)
    folder = folder if rank == 0 else os.path.join(folder, "other")
    os.makedirs(folder, exist_ok=True)
    letters = {name: record(name, views, before, folder)
               for name, views, before in (("reduced", False, False), ("reduced_views", True, False), ("reduced_later", True, True))}
    if rank == 0:
        with open(f"{folder}/reduced.json", "w") as out:
            json.dump(letters, out, indent=1)
    distributed.destroy_process_group()


if __name__ == "__main__":
    multiprocessing.spawn(run, (sys.argv[1],), 2)
