"""What this package does not have, and what answers the same question."""

from __future__ import annotations

from typing import NoReturn

_WAYS = {
    "common.call_stack": "run.stacks() has the call stacks of all threads",
    "common.trace_call_stack": "run.stacks() has the call stacks of all threads",
    "common.trace_call_graph": "run.stacks() has the call stacks of all threads",
    "common.trace_filter": "run.sql(\"select ...\") filters events",
    "common.trace_stack_filter": "run.sql(\"select ...\") filters events",
    "common.trace_df": "run.sql(\"select ...\") finds events",
    "common.trace_parser": "borescope.open(...) reads traces",
    "common.trace_symbol_table": "Trace.symbol_table has the names; other tables hold them as texts",
    "common.timeline": "`borescope open trace.json.gz` shows timelines in Perfetto",
    "analyzers.timeline": "`borescope open trace.json.gz` shows timelines in Perfetto",
    "common.execution_trace": "borescope.link(...) ties execution traces to device traces",
    "configs": "there is nothing to configure: each question reads what it needs",
}


def refuse(module: str) -> NoReturn:
    """ImportError that names Borescope's way."""
    name = module.removeprefix("borescope.hta.")
    raise ImportError(f"borescope.hta has no {name}, which is internal to HTA; with "
                      f"run = borescope.open(...): {_WAYS[name]}", name=module)
