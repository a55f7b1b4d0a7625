"""Records the jobs of several ranks that tests and documentation use: gloo on the CPU, four processes.

    torchrun --nproc-per-node 4 samples/record_ranks.py data FOLDER
    torchrun --nproc-per-node 4 samples/record_ranks.py pipeline FOLDER

data      data-parallel; rank 2 gets batches twice as large: FOLDER/rankN.json.gz
pipeline  two stages of two ranks each, the first with an embedding: FOLDER/trace_N.json.gz
"""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule

STEPS, WIDTH, CLASSES = 3, 32, 10


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


def record(path, step):
    """Runs the steps under a profiler that writes to path."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True,
                 schedule=schedule(wait=0, warmup=0, active=STEPS, repeat=1),
                 on_trace_ready=lambda prof: prof.export_chrome_trace(path)) as prof:
        for _ in range(STEPS):
            step()
            prof.step()


def data_parallel(folder):
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(Block(), Block(), nn.Linear(WIDTH, CLASSES)))
    optimizer = torch.optim.AdamW(model.parameters())
    rows = 1024 if rank == 2 else 512 + 8 * rank

    def step():
        x = torch.randn(rows, WIDTH)
        loss = nn.functional.cross_entropy(model(x), torch.randint(CLASSES, (rows,)))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    record(os.path.join(folder, f"rank{rank}.json.gz"), step)


def pipeline(folder):
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("pp", "dp"))
    rank, stage = dist.get_rank(), mesh.get_local_rank("pp")
    peer = [r for r in dist.get_process_group_ranks(mesh.get_group("pp")) if r != rank][0]
    if stage == 0:
        model = nn.Sequential(nn.Embedding(2000, WIDTH), nn.Linear(WIDTH, WIDTH), nn.ReLU())
    else:
        model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, CLASSES))
    optimizer = torch.optim.AdamW(model.parameters())

    def first():
        out = model(torch.randint(2000, (256,)))
        dist.send(out.detach(), peer)
        grad = torch.empty_like(out)
        dist.recv(grad, peer)
        out.backward(grad)

    def last():
        x = torch.empty(256, WIDTH)
        dist.recv(x, peer)
        x.requires_grad_()
        nn.functional.cross_entropy(model(x), torch.randint(CLASSES, (256,))).backward()
        dist.send(x.grad, peer)

    def step():
        (first if stage == 0 else last)()
        for p in model.parameters():
            dist.all_reduce(p.grad, group=mesh.get_group("dp"))
        optimizer.step()
        optimizer.zero_grad()

    record(os.path.join(folder, f"trace_{rank}.json.gz"), step)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    {"data": data_parallel, "pipeline": pipeline}[sys.argv[1]](sys.argv[2])
    dist.destroy_process_group()
