"""Rows that are a tree in preorder, by their depth."""


WORK = ("kernel", "memcpy", "memset")


def works_of(table):
    """The rows of `flame` that are work: kernels and copies."""
    return table.where(lambda c: c("kind") in WORK)


def leaves(table, ranges=()):
    """The rows of `flame` that are work, each with the innermost operator around it; `ranges` are names of ranges
    that stand for operators."""
    around = []
    for depth, name, kind, works, device_ns in table.rows("depth", "name", "kind", "works", "device_ns"):
        del around[depth:]
        if kind in WORK:
            yield innermost_op(around, ranges), works, device_ns
        around.append((name, kind))


def innermost_op(around, ranges):
    """The name of the innermost operator of a path, or None."""
    return next((name for name, kind in reversed(around)
                 if kind == "op" or (kind == "annotation" and name in ranges)), None)


def own_time_by_op(table, ranges=()):
    """{operator: self device time of it and of what is no operator directly inside}, of `stacks`."""
    around, found = [], {}
    for depth, name, kind, own_ns in table.rows("depth", "name", "kind", "self_device_ns"):
        del around[depth:]
        around.append((name, kind))
        op = innermost_op(around, ranges)
        found[op] = found.get(op, 0) + own_ns
    return found
