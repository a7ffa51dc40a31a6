#!/usr/bin/env python3
"""Makes a larger pair of traces for `borescope link`: a pair, again and again, one behind the other.

    link_pair.py HOST DEVICE TIMES OUT_HOST OUT_DEVICE

Ids, record functions and correlations of every copy are its own; its times follow those of the
copy before. To see that linking grows with the input and no faster.
"""

import copy
import gzip
import json
import sys

ATTRIBUTES = ("External id", "Record function id", "correlation")


def load(path: str) -> dict:
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def nodes_of(nodes: list, shift: int) -> list:
    """The nodes of one copy; process and threads are those of the first."""
    moved = []
    for node in copy.deepcopy(nodes):
        rf_ids = [a for a in node["attrs"] if a["name"] == "rf_id" and a["value"] != 0]
        if shift and not rf_ids:
            continue
        for attribute in rf_ids:
            attribute["value"] += shift
        if rf_ids:
            node["id"] += shift
            parents_are_shared = node["ctrl_deps"] <= 2
            node["ctrl_deps"] += 0 if parents_are_shared else shift
        moved.append(node)
    return moved


def events_of(events: list, shift: int, later: float) -> list:
    moved = []
    for event in copy.deepcopy(events):
        if event.get("ph") == "M" and shift:
            continue
        event["ts"] = event.get("ts", 0) + later
        for name in ATTRIBUTES:
            if event.get("args", {}).get(name, 0) > 0:
                event["args"][name] += shift
        moved.append(event)
    return moved


def main() -> int:
    host_path, device_path, times, out_host, out_device = sys.argv[1:]
    host, device = load(host_path), load(device_path)
    timed = [e for e in device["traceEvents"] if "dur" in e]
    span = max(e["ts"] + e["dur"] for e in timed) - min(e["ts"] for e in timed) + 1000
    nodes, events = host["nodes"], device["traceEvents"]
    host["nodes"], device["traceEvents"] = [], []
    for i in range(int(times)):
        host["nodes"] += nodes_of(nodes, i * 1_000_000)
        device["traceEvents"] += events_of(events, i * 1_000_000, i * span)
    for path, document in ((out_host, host), (out_device, device)):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
