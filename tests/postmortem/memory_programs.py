"""Programs that use a device's memory, written down as PyTorch's snapshots: a small caching allocator, and loops whose fault is known."""

import random

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
TORCH = "/env/lib/python3.12/site-packages/torch/"
BEGIN_US = 1_793_527_200_000_000


def stack(*frames):
    """Innermost first, as snapshots have them."""
    return [{"name": name, "filename": file, "line": line} for name, file, line in frames]


def at(line, name="main", file="/app/train.py"):
    return stack((name, file, line))


def forward(line):
    return stack(("forward", "/app/model.py", line), ("_call_impl", TORCH + "nn/modules/module.py", 1700), ("main", "/app/train.py", 50))


BACKWARD = stack(("torch::autograd::generated::AddmmBackward0::apply(int)", "??", 0), ("torch::autograd::Engine::evaluate_function(int)", "??", 0))
STATE = stack(("_init_group", TORCH + "optim/adamw.py", 150), ("step", TORCH + "optim/adamw.py", 220), ("main", "/app/train.py", 53))
PARAMETER = stack(("_apply", TORCH + "nn/modules/module.py", 900), ("to", TORCH + "nn/modules/module.py", 1350), ("build", "/app/train.py", 20))
CACHE = stack(("update", "/env/lib/python3.12/site-packages/transformers/cache_utils.py", 400),
              ("forward", "/env/lib/python3.12/site-packages/transformers/modeling.py", 300), ("generate", "/app/serve.py", 33))


class OutOfMemory(Exception):
    pass


class Device:
    """The allocator without settings: best fit, small and large segments, blocks that are split, a retry that gives whole segments back."""

    def __init__(self, total):
        self.total, self.reserved, self.next, self.time = total, 0, 0x7F0000000000, BEGIN_US
        self.events, self.marks, self.segments, self.live = [], [], [], {}

    def event(self, action, address, size, frames, **more):
        self.time += 50
        self.events.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.time, "frames": frames} | more)

    def mark(self, stage):
        self.time += 10
        self.marks.append({"device": 0, "time_us": self.time, "stage": stage, "name": "Optimizer.step#AdamW.step"})

    def release(self):
        for segment in [one for one in self.segments if len(one["blocks"]) == 1 and not one["blocks"][0]["used"]]:
            self.event("segment_free", segment["address"], segment["size"], [])
            self.segments.remove(segment)
            self.reserved -= segment["size"]

    def segment_for(self, size, small, frames):
        needed = 2 * MIB if small else 20 * MIB if size < 10 * MIB else -(-size // (2 * MIB)) * 2 * MIB
        if self.reserved + needed > self.total:
            self.release()
        if self.reserved + needed > self.total:
            self.event("oom", 0, size, frames, device_free=self.total - self.reserved)
            raise OutOfMemory
        segment = {"address": self.next, "size": needed, "small": small, "frames": frames,
                   "blocks": [{"address": self.next, "size": needed, "used": 0, "frames": []}]}
        self.next += needed + 64 * MIB
        self.reserved += needed
        self.segments.append(segment)
        self.event("segment_alloc", segment["address"], needed, frames)
        return segment

    def alloc(self, requested, frames):
        size = -(-requested // 512) * 512
        small = size <= MIB
        free = [(block["size"], block["address"], segment, block) for segment in self.segments if segment["small"] == small
                for block in segment["blocks"] if not block["used"] and block["size"] >= size]
        if free:
            segment, block = min(free, key=lambda one: one[:2])[2:]
        else:
            segment = self.segment_for(size, small, frames)
            block = segment["blocks"][0]
        rest = block["size"] - size
        if rest >= 512 if small else rest > MIB:
            where = segment["blocks"].index(block) + 1
            segment["blocks"].insert(where, {"address": block["address"] + size, "size": rest, "used": 0, "frames": []})
            block["size"] = size
        block["used"], block["frames"] = requested, frames
        self.live[block["address"]] = segment, block
        self.event("alloc", block["address"], requested, frames)
        return block["address"]

    def free(self, address):
        segment, block = self.live.pop(address)
        for action in ("free_requested", "free_completed"):
            self.event(action, address, block["used"], [])
        block["used"], block["frames"] = 0, []
        blocks = segment["blocks"]
        where = blocks.index(block)
        for left in (where, where - 1):
            if 0 <= left < len(blocks) - 1 and not blocks[left]["used"] and not blocks[left + 1]["used"]:
                blocks[left]["size"] += blocks.pop(left + 1)["size"]

    def snapshot(self, last_events=None):
        segments = [{"device": 0, "address": one["address"], "total_size": one["size"], "stream": 0, "segment_type": "small" if one["small"] else "large",
                     "frames": one["frames"],
                     "blocks": [{"address": block["address"], "size": block["size"], "requested_size": block["used"],
                                 "state": "active_allocated" if block["used"] else "inactive", "frames": block["frames"]} for block in one["blocks"]]}
                    for one in sorted(self.segments, key=lambda one: one["address"])]
        events = self.events if last_events is None else self.events[-last_events:]
        settings = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0, "expandable_segments": False}
        return {"segments": segments, "device_traces": [events], "allocator_settings": settings, "external_annotations": self.marks}


class Training:
    """Steps of a model of some layers: forward, backward, an optimizer with two states a parameter."""

    def __init__(self, device, layers=6, weight=80 * MIB, activation=200 * MIB):
        self.device, self.layers, self.weight, self.activation = device, layers, weight, activation
        self.parameters = [device.alloc(weight, PARAMETER) for _ in range(layers)]
        self.states = []
        self.steps = 0

    def step(self, activation=None, between=lambda: None):
        device = self.device
        activations = [device.alloc(activation or self.activation, forward(30 + layer % 3)) for layer in range(self.layers)]
        between()
        gradients = []
        for layer in reversed(range(self.layers)):
            gradients.append(device.alloc(self.weight, BACKWARD))
            device.free(activations[layer])
        device.mark("START")
        while len(self.states) < 2 * self.layers:
            self.states.append(device.alloc(self.weight, STATE))
        device.mark("END")
        for gradient in gradients:
            device.free(gradient)
        self.steps += 1


def until_it_fails(step, most=2000):
    try:
        for number in range(most):
            step(number)
    except OutOfMemory:
        return number
    raise AssertionError("nothing failed")


def leak(last_events=None):
    """A list of losses; the number of the step that failed."""
    device = Device(6 * GIB)
    training = Training(device)
    failed = until_it_fails(lambda _: training.step(between=lambda: device.alloc(30 * MIB, at(55))))
    return device.snapshot(last_events), failed


def small_leak():
    """A leak of little beside a request that no device can serve."""
    device = Device(12 * GIB)
    training = Training(device)

    def step(number):
        training.step(between=lambda: device.alloc(24 * MIB, at(55)))
        if number == 20:
            device.alloc(30 * GIB, at(60))
    until_it_fails(step)
    return device.snapshot()


def evaluation():
    """Outputs with their graphs: no backward pass ever, and no marks of steps."""
    device = Device(8 * GIB)
    for _ in range(10):
        device.alloc(100 * MIB, PARAMETER)

    def step(_):
        for line in range(10):
            device.alloc(16 * MIB, forward(30 + line))
        device.free(device.alloc(50 * MIB, at(70, "evaluate")))
    until_it_fails(step)
    return device.snapshot()


def cache():
    """Keys and values of each layer, made longer by torch.cat."""
    device = Device(8 * GIB)
    for _ in range(16):
        device.alloc(200 * MIB, PARAMETER)
    held = [None] * 16

    def step(number):
        for layer, old in enumerate(held):
            held[layer] = device.alloc((number + 1) * 5 * MIB, CACHE)
            if old is not None:
                device.free(old)
    until_it_fails(step)
    return device.snapshot()


def longer_sequences():
    device = Device(10 * GIB)
    training = Training(device)
    until_it_fails(lambda number: training.step(activation=int(100 * MIB * 1.05**number)))
    return device.snapshot()


def first_optimizer_step(states_that_fit):
    device = Device(2 * GIB)
    weight = 40 * MIB
    training = Training(device, layers=12, weight=weight, activation=20 * MIB)
    device.total = device.reserved + 12 * weight + states_that_fit * weight
    until_it_fails(lambda _: training.step())
    return device.snapshot()


def first_forward(fits):
    """The request that comes after so many activations fails; there was no backward pass."""
    device = Device(6 * GIB)
    training = Training(device, layers=12, activation=512 * MIB)
    device.total = device.reserved + fits * 512 * MIB + 300 * MIB
    until_it_fails(lambda _: training.step())
    return device.snapshot()


def cleared_list(steps=48, every=10):
    """A list that is cleared every ten steps, and one request for more than there is in the end."""
    device = Device(6 * GIB)
    training = Training(device)
    kept = []

    def step(number):
        training.step(between=lambda: kept.append(device.alloc(30 * MIB, at(55))))
        if number % every == every - 1:
            while kept:
                device.free(kept.pop())
        if number == steps:
            device.alloc(6 * GIB, at(60))
    until_it_fails(step)
    return device.snapshot()


def loading():
    """A model that does not fit, layer by layer, each with a copy that is freed."""
    device = Device(4 * GIB)

    def step(_):
        copy = device.alloc(40 * MIB, at(18, "read"))
        device.alloc(50 * MIB, PARAMETER)
        device.free(copy)
    until_it_fails(step)
    return device.snapshot()


def queue(length=10):
    """A queue that keeps the last ten: what it held last was never freed."""
    device = Device(12 * GIB)
    training = Training(device)
    kept = []

    def between():
        kept.append(device.alloc(30 * MIB, at(55)))
        if len(kept) > length:
            device.free(kept.pop(0))
    for _ in range(30):
        training.step(between=between)
    return device.snapshot()


def lengths_of_chance(seed, steps=24):
    """Sequences of any length, and a batch that is kept for the step after."""
    chance = random.Random(seed)
    device = Device(40 * GIB)
    training = Training(device)
    batches = []

    def between():
        batches.append(device.alloc(chance.randint(10, 60) * MIB, at(41)))
        if len(batches) > 1:
            device.free(batches.pop(0))
    for _ in range(steps):
        training.step(activation=chance.randint(50, 400) * MIB, between=between)
    return device.snapshot()
