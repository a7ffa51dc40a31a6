"""Which verbs have something to say about a run, by what was recorded."""

from __future__ import annotations

from .._run import Run
from ._question import ASKABLE

# Per verb the rows that it is about, as SQL; verbs that are not here answer about every recording.
_WORK = "device_events WHERE is_work = 1"
_NEEDS = {
    "breakdown": _WORK, "busy": _WORK, "idle": _WORK, "gaps": _WORK, "overlap": _WORK, "top": _WORK,
    "kernels": "kernels", "variability": "kernels", "prof": "kernels",
    "flame": _WORK, "inductor": "kernels", "ops": "ops", "roofline": "kernels",
    "stacks": "host_events", "steps": "steps", "launches": "device_events WHERE launch_id IS NOT NULL",
    "delays": "kernels WHERE launch_id IS NOT NULL",
    "graphs": "kernels WHERE graph_node_id > 0", "queue": "kernels WHERE launch_id IS NOT NULL",
    "bandwidth": "copies", "sequences": "kernels WHERE op_id IS NOT NULL",
    "inference": "(SELECT 1 FROM host_events WHERE name GLOB 'execute_*' OR name GLOB 'step[[]*' OR name LIKE '%argmax%' "
                 "OR name LIKE '%multinomial%' OR name LIKE '%gen reqs%' UNION ALL SELECT 1 FROM kernels "
                 "WHERE name LIKE '%splitkv%' OR name LIKE '%paged%')",
    "annotations": "annotations", "collectives": "kernels WHERE class = 'collective'",
    "variance": "(SELECT 1 FROM steps GROUP BY number LIMIT 1 OFFSET 2)",
    "stragglers": "kernels WHERE class = 'collective'", "waits": "kernels WHERE class = 'collective'",
    "memory": "memory_events",
    "counters": "counters", "stats": "launches",
}


def verbs_with_data(run: Run) -> list[str]:
    """The verbs of a run whose events were recorded."""
    needs = sorted(set(_NEEDS.values()))
    columns = ", ".join(f"EXISTS (SELECT 1 FROM {need})" for need in needs)
    cells = next(iter(run.sql(f"SELECT {columns}").to_dicts()[0:1]))
    there = dict(zip(needs, cells.values()))
    return [verb for verb in ASKABLE if verb not in _NEEDS or there[_NEEDS[verb]]]
