"""What a counted instruction stands for, in FLOPs."""

from __future__ import annotations

CUDA_SASS_INSTRUCTION_COUNTER_FLOPS: dict[str, float] = {
    f"smsp__sass_thread_inst_executed_op_{precision}{operation}_pred_on.sum": flops
    for precision in "fhd" for operation, flops in (("fma", 2), ("mul", 1), ("add", 1))}
