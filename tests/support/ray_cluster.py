"""A Ray cluster on this machine, in the environment `.venv-ray`, which `make test-load` installs."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.processes import command_line, descendants, wait_until

_FEWER = ("--include-log-monitor=false",)
"""Processes of Ray that nothing here needs: they use CPU as long as the cluster runs."""
BIN = Path(__file__).parents[2] / ".venv-ray" / "bin"
MISSING = "Ray is not installed in .venv-ray: `make test-load` installs it where it can be had"


def is_installed() -> bool:
    return (BIN / "ray").exists() and (BIN.parent / ".ready").exists()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


@dataclass
class RayCluster:
    """Two nodes with a CPU each. Their environment has the keys; that of the command need not."""

    address: str
    client_address: str
    nodes: "list[subprocess.Popen[bytes]]" = field(default_factory=list)

    def processes(self) -> set[int]:
        return {pid for node in self.nodes for pid in {node.pid, *descendants(node.pid)}}

    def workers(self) -> list[int]:
        """Return the processes of our actors."""
        return sorted(pid for pid in self.processes() if command_line(pid).startswith("ray::RayWorker"))

    def cpu_by_process(self) -> dict[int, float]:
        """Return the CPU that each process has used, in seconds."""
        ticks = {}
        for pid in self.processes():
            with suppress(OSError):
                ticks[pid] = sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
        return {pid: used / os.sysconf("SC_CLK_TCK") for pid, used in ticks.items()}

    @contextmanager
    def measured_cpu(self) -> Iterator[list[float]]:
        """Add the CPU that the cluster uses in this block to the list, at its end.

        It is looked at ten times a second: the system forgets what a process of Ray used when that ends.
        """
        before = self.cpu_by_process()
        latest = dict(before)
        measured: list[float] = []
        ended = threading.Event()

        def look() -> None:
            while not ended.wait(0.1):
                latest.update(self.cpu_by_process())

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield measured
        finally:
            ended.set()
            thread.join()
            latest.update(self.cpu_by_process())
            measured.append(sum(used - before.get(pid, 0.0) for pid, used in latest.items()))


@contextmanager
def ray_cluster(environ: Mapping[str, str]) -> Iterator[RayCluster]:
    """Start a cluster whose nodes have this environment, and end every process of it: gcs_server ignores SIGTERM."""
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # a short path: sockets are in it
    port, client_port = _free_port(), _free_port()
    cluster = RayCluster(f"127.0.0.1:{port}", f"ray://127.0.0.1:{client_port}")
    head = ["--head", f"--port={port}", f"--ray-client-server-port={client_port}", "--include-dashboard=false"]
    try:
        for options in ([*head, f"--temp-dir={folder}"], [f"--address={cluster.address}"]):
            log = Path(folder) / f"node-{len(cluster.nodes)}.log"
            with log.open("wb") as output:
                cluster.nodes.append(
                    subprocess.Popen(
                        [
                            str(BIN / "ray"),
                            "start",
                            *options,
                            "--num-cpus=1",
                            "--disable-usage-stats",
                            *_FEWER,
                            "--block",
                        ],
                        env={**os.environ, **environ, "RAY_USAGE_STATS_ENABLED": "0"},
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=subprocess.STDOUT,
                        start_new_session=True,
                    )
                )
            wait_until(lambda log=log: b"Ray runtime started" in log.read_bytes())  # type: ignore[misc]
        yield cluster
    finally:
        for pid in cluster.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for node in cluster.nodes:
            node.wait()
        shutil.rmtree(folder, ignore_errors=True)
