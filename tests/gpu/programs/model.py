"""model.py HOW N [FILE]: a small GPT on the GPU. Prints the milliseconds of a step last.

HOW: steps, profiled (torch.profiler in the middle; prints its kernels), exported (steps; then the same from the
beginning under torch.profiler, into FILE), workers (a DataLoader with N workers), spawn (N processes), graph (a
training step captured once, and replayed N times), compiled (steps of torch.compile).
"""

import sys
import time

import torch
import torch.multiprocessing
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        y = self.first(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.second(x))


def make():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(512, 128), *(Block(128) for _ in range(4)), nn.Linear(128, 512)).cuda()
    return model, torch.optim.AdamW(model.parameters(), 1e-3)


def train(model, optimizer, count):
    tokens = torch.randint(0, 512, (8, 64), device="cuda")
    for _ in range(count):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()


def steps(count, is_compiled=False):
    model, optimizer = make()
    if is_compiled:
        model = torch.compile(model)
    train(model, optimizer, 3)
    begin = time.perf_counter()
    train(model, optimizer, count)
    print(1000 * (time.perf_counter() - begin) / count)


def profile():
    return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU,
                                              torch.profiler.ProfilerActivity.CUDA])


def profiled(count):
    model, optimizer = make()
    train(model, optimizer, count)
    with profile() as profiler:
        train(model, optimizer, count)
    train(model, optimizer, count)
    kernels = [event for event in profiler.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    print(len(kernels))


def graph(count):
    model, _ = make()
    tokens = torch.randint(0, 512, (8, 64), device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            model(tokens).sum().backward()
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        model(tokens).sum().backward()
    torch.cuda.synchronize()
    for _ in range(count):
        captured.replay()
    torch.cuda.synchronize()


def one_process(_rank):
    steps(2)


def main():
    how, count = sys.argv[1], int(sys.argv[2])
    if how == "steps":
        steps(count)
    elif how == "profiled":
        profiled(count)
    elif how == "compiled":
        steps(count, is_compiled=True)
    elif how == "graph":
        graph(count)
    elif how == "exported":
        steps(count)
        with profile() as profiler:
            steps(count)
        profiler.export_chrome_trace(sys.argv[3])
    elif how == "workers":
        data = torch.utils.data.DataLoader(torch.arange(64), batch_size=8, num_workers=count)
        print(sum(batch.cuda().sum().item() for batch in data))
    elif how == "spawn":
        torch.multiprocessing.spawn(one_process, nprocs=count)


if __name__ == "__main__":
    main()
