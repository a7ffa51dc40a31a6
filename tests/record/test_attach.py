"""`borescope record --attach`: profiles of processes that run, by the protocol of PyTorch's profiler.

With BORESCOPE_TORCH_PYTHON, an interpreter that has PyTorch, its own client is tried, too.
"""

import json
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from launching import BORESCOPE, LauncherTest
from profiled import message

CLIENT = Path(__file__).with_name("profiled.py")
TORCH = os.environ.get("BORESCOPE_TORCH_PYTHON")
MODEL = """
import time, torch
model = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
print("begun", flush=True)
end = time.time() + 40
while time.time() < end:
    optimizer.zero_grad()
    model(torch.randn(8, 32)).sum().backward()
    optimizer.step()
    time.sleep(0.002)
"""


class Attach(LauncherTest):
    """In a folder of their own, so that a daemon of this machine is not in the way."""

    def setUp(self):
        super().setUp()
        holder = tempfile.TemporaryDirectory(prefix="bs-", dir="/tmp")
        self.addCleanup(holder.cleanup)
        self.sockets = holder.name

    def variables(self, **more):
        return super().variables(KINETO_IPC_SOCKET_DIR=self.sockets, **more)

    def client(self, *arguments, **more):
        process = subprocess.Popen([sys.executable, CLIENT, *arguments], env=self.variables(**more),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        self.assertEqual(int(process.stdout.readline()), process.pid)
        return process

    def end(self, process):
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            stream.close()

    def attach(self, *pids, options=(), **more):
        return self.borescope("record", "--attach", ",".join(map(str, pids)), *options, **more)

    def start(self, *pids):
        """An --attach that waits for processes that do not ask."""
        process = subprocess.Popen([BORESCOPE, "record", "--attach", ",".join(map(str, pids))],
                                   cwd=self.folder, env=self.variables(), stderr=subprocess.PIPE, text=True)
        process.stderr.readline()
        while not os.path.exists(f"{self.sockets}/dynolog"):
            pass
        return process

    def test_many_processes_at_once(self):
        clients = [self.client() for _ in range(4)]
        result = self.attach(*(client.pid for client in clients), options=["-o", "now", "--for", "300ms"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"borescope summary {self.folder}/now", result.stderr)
        for client in clients:
            asked = json.loads(client.stdout.readline())
            self.assertEqual(asked, {"ACTIVITIES_LOG_FILE": f"{self.folder}/now/trace.json",
                                     "PROFILE_REPORT_INPUT_SHAPES": "true", "PROFILE_START_TIME": "0",
                                     "ACTIVITIES_DURATION_MSECS": "300"})
            file = self.folder / "now" / f"trace_{client.pid}.json"
            count = client.pid % 50 + 1
            self.assertIn(f"process {client.pid} wrote {file}: {count} events", result.stderr)
            rows = self.query("SELECT COUNT(*) FROM host_events", file)
            self.assertEqual(rows, [[str(count)]])
        self.assertEqual((self.folder / "now").stat().st_mode & 0o777, 0o700)
        self.assertEqual(os.listdir(self.sockets).count("dynolog"), 0)

    def test_descendants_of_a_process(self):
        client = self.client()
        result = self.attach(os.getpid(), options=["--for", "50ms"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.folder / "attached" / f"trace_{client.pid}.json").exists())

    def test_steps(self):
        client = self.client()
        self.assertEqual(self.attach(client.pid, options=["--iterations", "7"]).returncode, 0)
        asked = json.loads(client.stdout.readline())
        self.assertEqual(asked["ACTIVITIES_ITERATIONS"], "7")
        self.assertEqual(asked["PROFILE_START_ITERATION_ROUNDUP"], "1")
        self.assertNotIn("ACTIVITIES_DURATION_MSECS", asked)

    def test_others_are_left_alone(self):
        wanted, other = self.client(), self.client()
        self.assertEqual(self.attach(wanted.pid, options=["--for", "50ms"]).returncode, 0)
        self.assertEqual(other.communicate()[0], "")

    def test_a_process_that_does_not_ask(self):
        result = self.attach(os.getpid())
        self.assertEqual(result.returncode, 2)
        self.assertIn("KINETO_USE_DAEMON=1", result.stderr)
        self.assertFalse((self.folder / "attached").exists())

    def test_a_process_that_ends_before_it_has_written(self):
        client = self.client()
        with subprocess.Popen([BORESCOPE, "record", "--attach", str(client.pid), "--for", "1h"],
                              cwd=self.folder, env=self.variables(), stderr=subprocess.PIPE,
                              text=True) as launcher:
            client.stdout.readline()
            client.kill()
            said = launcher.communicate(timeout=60)[1]
        self.assertEqual(launcher.returncode, 2)
        self.assertIn("ended before it had written its profile", said)

    def test_a_profile_that_cannot_be_read_is_said(self):
        client = self.client(PROFILED_BREAKS="1")
        result = self.attach(client.pid, options=["--for", "50ms"])
        self.assertIn(f"trace_{client.pid}.json", result.stderr)

    def test_a_second_launcher_says_that_the_socket_is_taken(self):
        first = self.start(os.getpid())
        result = self.attach(os.getpid())
        self.assertEqual(result.returncode, 2)
        self.assertIn("is taken by another borescope record --attach or by dynolog", result.stderr)
        first.kill()
        first.communicate()
        # What a killed launcher left is no obstacle.
        client = self.client()
        self.assertEqual(self.attach(client.pid, options=["--for", "50ms"]).returncode, 0)

    def test_hostile_datagrams(self):
        client = self.client("1")
        dice = random.Random(5)
        noise = [b"", b"x", bytes(40), bytes(65000), message(b"req", b""),
                 message(b"req", struct.pack("<iiq", 2, -1, 0)),
                 message(b"req", struct.pack("<iiq", 2, 2**31 - 1, 0)),
                 message(b"req", struct.pack("<iiqi", 2, 1, 0, client.pid))[:-1],
                 struct.pack("<Q32s", 2**64 - 1, b"ctxt"), message(b"r" * 32, bytes(64)),
                 message(b"ctxt", bytes(5000)),
                 *(dice.randbytes(dice.randrange(200)) for _ in range(200))]
        stop = threading.Event()

        def send():
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as attacker:
                attacker.setblocking(False)
                while not stop.is_set():
                    for datagram in noise:
                        try:
                            attacker.sendto(datagram, f"{self.sockets}/dynolog")
                        except OSError:
                            stop.wait(0.001)

        thread = threading.Thread(target=send)
        thread.start()
        result = self.attach(client.pid, options=["--for", "50ms"])
        stop.set()
        thread.join()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.folder / "attached" / f"trace_{client.pid}.json").exists())

    def test_errors(self):
        for arguments, said in ((["x"], "attach"), (["0"], "attach"), (["999999999"], "does not exist"),
                                ([os.getpid(), "--for", "1s", "--iterations", "3"], "one of the two"),
                                ([os.getpid(), "--", "true"], "no program")):
            result = self.borescope("record", "--attach", *arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(said, result.stderr)
            self.assertNotIn("waiting", result.stderr)
        (self.folder / "there").mkdir()
        result = self.attach(os.getpid(), options=["-o", "there"])
        self.assertIn("another folder", result.stderr)
        self.assertNotIn("waiting", result.stderr)

    @unittest.skipIf(TORCH is None, "BORESCOPE_TORCH_PYTHON names no interpreter with PyTorch")
    def test_stock_pytorch(self):
        programs = [subprocess.Popen([TORCH, "-c", MODEL], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     env=self.variables(KINETO_USE_DAEMON="1"), text=True) for _ in range(2)]
        for program in programs:
            self.addCleanup(program.communicate)
            self.addCleanup(program.kill)
            self.assertEqual(program.stdout.readline(), "begun\n")
        for options in (("-o", "time", "--for", "500ms"), ("-o", "steps", "--iterations", "5")):
            result = self.attach(*(program.pid for program in programs), options=options)
            self.assertEqual(result.returncode, 0, result.stderr)
            for program in programs:
                file = self.folder / options[1] / f"trace_{program.pid}.json"
                names = self.query("SELECT DISTINCT name FROM host_events WHERE kind = 'op'", file)
                self.assertIn(["aten::addmm"], names)
                shapes = self.query("SELECT COUNT(*) FROM ops WHERE input_dims IS NOT NULL", file)
                self.assertGreater(int(shapes[0][0]), 10)


if __name__ == "__main__":
    unittest.main()
