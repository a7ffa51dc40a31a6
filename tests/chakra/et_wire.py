"""The .et of MLCommons Chakra, as its schema and its feeder have it, slowly and obviously.

A twin of what src/borescope/packs/chakra does, which shares nothing with it: records of protobuf, the
order in which the feeder of the reference hands nodes out, and a .et made again from its dump.
"""

import base64
import struct

# Of AttributeProto: names of the values by their kind; the field of a list follows that of its kind.
KINDS = ("double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32",
         "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes")
PACKS = {"double": "<d", "float": "<f", "fixed32": "<I", "fixed64": "<Q", "sfixed32": "<i",
         "sfixed64": "<q"}
NODE_TYPES = ("INVALID_NODE", "METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE", "COMP_NODE",
              "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE")
WINDOW = 4096 * 256  # nodes that the feeder reads at once


# ---- Writing ----

def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, wire_type, payload):
    return varint(number << 3 | wire_type) + payload


def delimited(number, payload):
    return field(number, 2, varint(len(payload)) + payload)


def text(number, value):
    return delimited(number, value.encode()) if value else b""


def whole(number, value):
    return field(number, 0, varint(value)) if value else b""


def packed(number, values):
    return delimited(number, b"".join(varint(v) for v in values)) if values else b""


def scalar(kind, value):
    """The wire type and the bytes of one value."""
    if kind in PACKS:
        return (1 if kind in ("double", "fixed64", "sfixed64") else 5), struct.pack(PACKS[kind], value)
    if kind in ("string", "bytes"):
        data = value.encode() if kind == "string" else base64.b64decode(value)
        return 2, varint(len(data)) + data
    if kind in ("sint32", "sint64"):
        value = value << 1 ^ (-1 if value < 0 else 0)
    return 0, varint(int(value))


def value_of_attr(name, value):
    for place, kind in enumerate(KINDS):
        if name == f"{kind}_val":
            wire_type, payload = scalar(kind, value)
            return field(3 + 2 * place, wire_type, payload)
        if name == f"{kind}_list":
            parts = [scalar(kind, v)[1] for v in value]
            if kind in ("string", "bytes"):
                body = b"".join(field(1, 2, part) for part in parts)
            else:
                body = delimited(1, b"".join(parts)) if parts else b""
            return delimited(4 + 2 * place, body)
    raise ValueError(f"no value of an attribute: {name}")


def attribute(number, attr):
    body = text(1, attr["name"]) + text(2, attr.get("doc_string", ""))
    for key, value in attr.items():
        if key not in ("name", "doc_string"):
            body += value_of_attr(key, value)
    return delimited(number, body)


def arguments(number, io):
    body = text(1, io["values"]) + text(2, io["shapes"]) + text(3, io["types"])
    return delimited(number, body)


def node_message(node):
    """A node as `borescope chakra dump` shows it, as the message it came from."""
    kind = node["type"]
    body = whole(1, node["id"]) + text(2, node["name"])
    body += whole(3, NODE_TYPES.index(kind) if isinstance(kind, str) else kind)
    body += packed(4, node.get("ctrl_deps", [])) + packed(5, node.get("data_deps", []))
    body += whole(6, node.get("start_time_micros", 0)) + whole(7, node.get("duration_micros", 0))
    for number, key in ((8, "inputs"), (9, "outputs")):
        if key in node:
            body += arguments(number, node[key])
    return body + b"".join(attribute(10, attr) for attr in node["attr"])


def record(message):
    return varint(len(message)) + message


def write_et(dump):
    metadata = dump["metadata"]
    head = text(1, metadata["version"]) + b"".join(attribute(2, a) for a in metadata["attr"])
    return record(head) + b"".join(record(node_message(node)) for node in dump["nodes"])


# ---- Reading ----

def read_varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return number, at


def read_fields(message):
    """(number, value) of every field; what has a length as bytes."""
    at = 0
    while at < len(message):
        tag, at = read_varint(message, at)
        if tag & 7 == 0:
            value, at = read_varint(message, at)
        else:
            size, at = {1: (8, at), 5: (4, at)}.get(tag & 7) or read_varint(message, at)
            value, at = message[at:at + size], at + size
        yield tag >> 3, value


def read_records(data):
    at = 0
    while at < len(data):
        size, at = read_varint(data, at)
        yield data[at:at + size]
        at += size


def read_nodes(data):
    """(id, data_deps) of every node, in the order of the file."""
    for message in list(read_records(data))[1:]:
        number, deps = 0, []
        for key, value in read_fields(message):
            if key == 1:
                number = value
            elif key == 5 and isinstance(value, int):
                deps.append(value)
            elif key == 5:
                at = 0
                while at < len(value):
                    dep, at = read_varint(value, at)
                    deps.append(dep)
        yield number, deps


# ---- The feeder ----

class Feeder:
    """The reference's ETFeeder: what it reads when, and which node it hands out next."""

    def __init__(self, nodes, window=WINDOW):
        self.nodes = list(nodes)
        self.window = window
        self.at = 0
        self.deps = {}      # of nodes that are there: what they wait for still
        self.children = {}  # likewise: who waits for them
        self.unresolved = []  # (node, what it names that is not there yet)
        self.ready = set()
        self.read_window()

    def at_end(self):
        return self.at == len(self.nodes)

    def read_node(self):
        number, deps = self.nodes[self.at]
        self.at += 1
        missing = []
        for dep in deps:
            if dep in self.children:
                self.add_child(dep, number)
            else:
                missing.append(dep)
        self.deps[number] = list(deps)
        self.children[number] = []
        if missing:
            self.unresolved.append((number, missing))

    def add_child(self, parent, child):
        if child not in self.children[parent]:
            self.children[parent].append(child)

    def resolve(self):
        still = []
        for number, missing in self.unresolved:
            for dep in missing:
                if dep in self.children:
                    self.add_child(dep, number)
            missing = [dep for dep in missing if dep not in self.children]
            if missing:
                still.append((number, missing))
        self.unresolved = still

    def read_window(self):
        count = 0
        while not self.at_end() and (count < self.window or self.unresolved):
            self.read_node()
            count += 1
            self.resolve()
        self.ready |= {number for number, deps in self.deps.items() if not deps}

    def next(self):
        """The smallest of those that wait for nothing; None without one."""
        if not self.ready:
            return None
        number = min(self.ready)
        self.ready.remove(number)
        return number

    def finish(self, number):
        """What a simulator does when the node has ended."""
        for child in self.children[number]:
            self.deps[child].remove(number)
            if not self.deps[child]:
                self.ready.add(child)
        del self.deps[number], self.children[number]
        if not self.at_end() and len(self.ready) < self.window:
            self.read_window()


def issue_order(nodes):
    feeder = Feeder(nodes)
    order = []
    while (number := feeder.next()) is not None:
        order.append(number)
        feeder.finish(number)
    return order
