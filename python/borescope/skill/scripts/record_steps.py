#!/usr/bin/env python3
"""record_steps.py: the lines that record a few steps of a PyTorch program, as a function to copy or import.

    from record_steps import recorded

    with recorded("profile", steps=5) as profiler:      # one file a rank below profile/
        for batch in loader:
            train_step(batch)
            profiler.step()                             # what makes steps known
            if profiler.step_num > 8:
                break
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def recorded(folder: str, steps: int = 5, warm_up: int = 3, **options: object) -> Iterator[Any]:
    """A profiler of PyTorch that skips the first steps, and writes the next `steps` into one file a rank."""
    import torch.profiler as profiling

    rank = int(os.environ.get("RANK", "0"))
    os.makedirs(folder, exist_ok=True)
    given: dict[str, Any] = {
        # One step for the profiler to start, after those that warm up the program.
        "schedule": profiling.schedule(wait=warm_up - 1, warmup=1, active=steps, repeat=1),
        "on_trace_ready": lambda each: each.export_chrome_trace(os.path.join(folder, f"rank-{rank}.json.gz")),
        "record_shapes": True,
    }
    with profiling.profile(**{**given, **options}) as profiler:
        yield profiler


if __name__ == "__main__":
    print(__doc__)
