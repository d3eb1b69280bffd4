"""A Ray cluster on this machine, in the environment `.venv-ray`, which `make test-load` installs."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.processes import command_line, descendants, wait_until

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

    def cpu_seconds(self) -> float:
        """Return the CPU that the cluster has used, with that of processes that have ended."""
        total = 0
        for pid in self.processes():
            with suppress(OSError):
                total += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))
        return total / os.sysconf("SC_CLK_TCK")


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
                        [str(BIN / "ray"), "start", *options, "--num-cpus=1", "--disable-usage-stats", "--block"],
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
