"""Records a GAN whose generator's pass leaves gradients in its discriminator: FOLDER/gan_adam.json.zst.
With "early" each model gives up its gradients as soon as an optimizer has stepped: gan_adam_early.json.zst.
With "filled" gradients are filled with zeros and kept: gan_filled.json.zst. python3 record_gan.py FOLDER [early|filled]"""
import sys

import torch
from torch import nn
from torch.nn.functional import softplus
from torch.profiler import ProfilerActivity, profile, schedule

from record_models import events_of, write

NAMES = {"": "gan_adam", "early": "gan_adam_early", "filled": "gan_filled"}


def train(how, step):
    early, none = how == "early", how != "filled"
    g = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 196))
    d = nn.Sequential(nn.Linear(196, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
    for_g, for_d = torch.optim.Adam(g.parameters()), torch.optim.Adam(d.parameters())
    for _ in range(5):
        real, fake = torch.randn(16, 196), g(torch.randn(16, 16))
        for_d.zero_grad(none)
        (softplus(-d(real)).mean() + softplus(d(fake.detach())).mean()).backward()
        for_d.step()
        if early:
            for_d.zero_grad()
        for_g.zero_grad(none)
        softplus(-d(fake)).mean().backward()
        for_g.step()
        if early:
            for_g.zero_grad()
            for_d.zero_grad()
        step()


def record(folder, how):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    steps = schedule(wait=0, warmup=0, active=5, repeat=1)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True, schedule=steps) as profiler:
        train(how, profiler.step)
    write(events_of(profiler), f"{folder}/{NAMES[how]}.json.zst")


record(sys.argv[1], *(sys.argv[2:] or [""]))
