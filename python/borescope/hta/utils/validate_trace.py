"""Whether a trace is one that can be analysed."""

from __future__ import annotations

from typing import Any

import borescope

LEVELS = ("minimal", "standard", "complete")


def validate_trace_format(trace_file_path: str, level: str = "standard",
                          ignore_missing_arguments: bool = True) -> tuple[bool, dict[str, Any]]:
    """Whether a file is a trace without grave irregularities, and those it has by name.

    ``borescope doctor`` judges the whole recording, where HTA looks at the types of arguments, so that
    ``level`` and ``ignore_missing_arguments`` make no difference.
    """
    if level not in LEVELS:
        raise KeyError(level)
    try:
        with borescope.open(trace_file_path, on_diagnostic="ignore") as run:
            found = run.doctor().diagnostics
    except (borescope.Error, OSError) as error:
        return False, {"trace_read_error": error}
    errors = {each.code: str(each) for each in found if each.severity is borescope.Severity.ERROR}
    return not errors, errors
