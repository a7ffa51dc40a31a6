"""A process that asks for profiling requests as PyTorch does, and writes a profile when it is asked.

profiled.py [EVERY_S]: asks each so many seconds until its input ends. Prints its number when it has
begun, and each configuration that it got, in one line.
"""

import json
import os
import socket
import struct
import sys
import threading
import time

HEADER = "<Q32s"


def address():
    folder = os.environ.get("KINETO_IPC_SOCKET_DIR")
    return f"{folder}/dynolog" if folder else "\0dynolog\0"


def own_address():
    folder = os.environ.get("KINETO_IPC_SOCKET_DIR")
    name = f"dynoconfigclient{os.getpid()}"
    return f"{folder}/{name}" if folder else f"\0{name}\0"


def message(kind, payload):
    return struct.pack(HEADER, len(payload), kind) + payload


def ask(client, kind, payload):
    """The answer's payload; nothing where no daemon answers."""
    try:
        client.sendto(message(kind, payload), address())
        answer = client.recv(65536)
    except OSError:
        return None
    size, answered = struct.unpack_from(HEADER, answer)
    assert answered.rstrip(b"\0") == kind and size == len(answer) - 40, answer
    return answer[40:]


def write_profile(configuration):
    base, suffix = os.path.splitext(configuration["ACTIVITIES_LOG_FILE"])
    time.sleep(int(configuration.get("ACTIVITIES_DURATION_MSECS", "10")) / 1000)
    events = [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": os.getpid(), "tid": 1,
               "ts": 10 * i, "dur": 5, "args": {}} for i in range(os.getpid() % 50 + 1)]
    text = json.dumps({"schemaVersion": 1, "traceEvents": events})
    if os.environ.get("PROFILED_BREAKS"):
        text = text[:-30] + "}"
    with open(f"{base}_{os.getpid()}{suffix}", "w", encoding="ascii") as file:
        for begin in range(0, len(text), 500):  # as a writer that takes its time
            file.write(text[begin:begin + 500])
            file.flush()
            time.sleep(0.01)


def pids():
    return struct.pack("<iiqii", 2, 2, 0, os.getpid(), os.getppid())


def main():
    client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    client.bind(own_address())
    client.settimeout(0.5)
    ask(client, b"ctxt", struct.pack("<iiq", 0, os.getpid(), 0))
    print(os.getpid(), flush=True)
    every = float(sys.argv[1]) if len(sys.argv) > 1 else 0.2
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    while not ended.wait(every):
        text = ask(client, b"req", pids())
        if text:
            configuration = dict(line.split("=", 1) for line in text.decode().splitlines())
            print(json.dumps(configuration), flush=True)
            write_profile(configuration)
    client.close()
    if os.environ.get("KINETO_IPC_SOCKET_DIR"):
        os.unlink(own_address())


if __name__ == "__main__":
    main()
