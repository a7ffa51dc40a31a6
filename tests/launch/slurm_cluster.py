"""A cluster of Slurm on this host, for tests: munged, slurmctld and some slurmd on loopback, all their
files in one folder, all of them ended when the test is."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue", "sinfo")
ADDRESS = "127.0.0.1"
START_S = 30

CONFIGURATION = """\
ClusterName=borescope
SlurmctldHost={host}({address})
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MinJobAge=600
InactiveLimit=0
{nodes}
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


def missing_programs() -> list[str]:
    """What a cluster needs and is not here."""
    return [name for name in PROGRAMS if which(name) is None]


def which(name: str) -> str | None:
    # Daemons lie where only root looks for programs.
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind((ADDRESS, 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def running() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def environment_of(process: int) -> list[bytes]:
    try:
        return Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:  # it has ended, or is of another user
        return []


def parent_of(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("PPid:")))


def kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


class SlurmCluster:
    """With two nodes of two processors. `environment` is for programs that submit; their folder of
    programs comes first there. A context manager."""

    def __init__(self, folder: Path, programs: Path, nodes: int = 2) -> None:
        self.folder = folder
        self.nodes = [f"node{i}" for i in range(1, nodes + 1)]
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith(("SLURM_", "SBATCH_"))}
        self.environment["SLURM_CONF"] = str(folder / "slurm.conf")
        self.environment["PATH"] = f"{programs}:{self.environment['PATH']}"
        self.daemons: dict[str, subprocess.Popen] = {}

    def __enter__(self) -> "SlurmCluster":
        try:
            self.configure()
            self.start("munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket",
                       f"--key-file={self.folder}/munge.key", f"--log-file={self.folder}/munged.log",
                       f"--pid-file={self.folder}/munged.pid", f"--seed-file={self.folder}/munge.seed")
            self.wait(lambda: (self.folder / "munge.socket").exists(), "munged listens")
            self.start("slurmctld", "-D", "-i")
            for node in self.nodes:
                self.start("slurmd", "-D", "-N", node, name=node)
            self.wait(self.nodes_are_idle, "all nodes are idle")
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def configure(self) -> None:
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(128))
        host = socket.gethostname().split(".")[0]
        ports = free_ports(len(self.nodes) + 1)
        nodes = "\n".join(
            f"NodeName={node} NodeHostname={host} NodeAddr={ADDRESS} Port={port} CPUs=2"
            for node, port in zip(self.nodes, ports[1:]))
        for node in self.nodes:
            (self.folder / f"spool-{node}").mkdir()
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=host, address=ADDRESS, port=ports[0], user=f"{os.getuid()}", folder=self.folder,
            nodes=nodes))

    def start(self, program: str, *arguments: str, name: str = "") -> None:
        with open(self.folder / f"{name or program}.said", "wb") as said:
            self.daemons[name or program] = subprocess.Popen(
                [which(program), *arguments], env=self.environment, cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, start_new_session=True)

    def end(self) -> None:
        """In the reverse order, so that who depends on another goes first. Jobs do not outlive it."""
        for name, daemon in reversed(self.daemons.items()):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons.clear()
        for process in self.processes():
            kill(process)

    def processes(self) -> list[int]:
        """All that still runs with the configuration of this cluster: tasks and who watches them."""
        wanted = f"SLURM_CONF={self.environment['SLURM_CONF']}".encode()
        return [process for process in running() if wanted in environment_of(process)]

    def kill_node(self, node: str, task: int) -> None:
        """As if it lost its power: its daemon, and the task that runs there with who watches it. Slurm
        hears of it, as from a health check of the cluster; by itself it waits for minutes."""
        daemon = self.daemons.pop(node)
        daemon.kill()
        daemon.wait()
        watcher = parent_of(task)
        assert watcher in self.processes(), "the task is not started by a node"
        kill(watcher)
        kill(task)
        self.run("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=lost")

    def run(self, *words: str) -> str:
        done = subprocess.run(words, env=self.environment, cwd=self.folder, capture_output=True,
                              text=True, check=False, timeout=START_S)
        return done.stdout if done.returncode == 0 else ""

    def nodes_are_idle(self) -> bool:
        return self.run("sinfo", "--noheader", "--format=%T %D").split() == ["idle", str(len(self.nodes))]

    def wait(self, is_so, what: str, seconds: float = START_S) -> None:
        end = time.monotonic() + seconds
        while not is_so():
            ended = [name for name, daemon in self.daemons.items() if daemon.poll() is not None]
            if ended or time.monotonic() > end:
                raise RuntimeError(f"not so within {seconds} s: {what}; ended: {ended}\n{self.logs()}")
            time.sleep(0.1)

    def logs(self) -> str:
        return "\n".join(f"== {path.name}\n{path.read_text(errors='replace')[-2000:]}"
                         for path in sorted(self.folder.glob("*.said")))
