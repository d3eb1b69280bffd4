"""`salvo run --on ray`, on a cluster of two nodes: the runs are made there, and everything else is as in one process."""

import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from salvo.scenarios.store.store import RunStore
from tests.cli.salvo.test_adaptive_rate import TokenBucket
from tests.cli.salvo.test_shards import SUITE, by_seed, content
from tests.support import ray_cluster as ray
from tests.support.project import UserProject
from tests.support.provider import Answer, LoopbackProvider, ProviderRequest, Say
from tests.support.wires import OPENAI_KEY, environment

pytestmark = [
    pytest.mark.load,
    pytest.mark.timeout(900),
    pytest.mark.xdist_group("ray"),
    pytest.mark.skipif(not ray.is_installed(), reason=ray.MISSING),
]

MANY = SUITE.replace("runs: 7", "runs: RUNS").replace("  tone: [kind, short]", "  tone: [kind]").replace("0.6", "0.5")


@pytest.fixture
def suite(project: UserProject) -> UserProject:
    shutil.rmtree(project.folder / "scenarios")
    project.write("scenarios/greet.yaml", SUITE)
    return project


def salvo(project: UserProject, *arguments: str, **environ: str) -> "subprocess.Popen[str]":
    """Start the command in the environment that has Ray. It has no key."""
    keyless = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
    return subprocess.Popen(
        [str(ray.BIN / "salvo"), *arguments],
        cwd=project.folder,
        env={**keyless, **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: "subprocess.Popen[str]", seconds: float = 600) -> tuple[int, str, str]:
    output, errors = process.communicate(timeout=seconds)
    return process.returncode, output, errors


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    with LoopbackProvider(by_seed) as running:
        yield running


@pytest.fixture
def cluster(provider: LoopbackProvider) -> Iterator[ray.RayCluster]:
    with ray.ray_cluster(environment(provider)) as running:
        yield running


@pytest.mark.parametrize("kind", ["ray", "client"])
def test_the_batch_is_that_of_one_process_and_the_command_needs_no_key(
    suite: UserProject, provider: LoopbackProvider, cluster: ray.RayCluster, kind: str
) -> None:
    address = "ray" if kind == "ray" else cluster.client_address
    options = ("--batch", "nightly", "--record", "-j", "6")
    spread = salvo(suite, "run", "--on", address, "--processes", "2", *options, RAY_ADDRESS=cluster.address)
    code, _, errors = finish(spread)
    assert code == 0, errors
    assert f"Calls go to http://127.0.0.1:{provider.port}" in errors
    stored = content(suite.store)
    shutil.rmtree(suite.store)
    suite.store.mkdir()
    suite.reach(provider)
    assert suite.salvo("run", *options).exit_code == 0
    for name, lines in content(suite.store).items():
        assert stored.pop(name) == lines, name
    assert stored == {}
    assert len(provider.requests) == 28
    assert OPENAI_KEY not in suite.everything_stored()


def test_without_a_cluster_nothing_is_spent(suite: UserProject, provider: LoopbackProvider) -> None:
    code, _, errors = finish(salvo(suite, "run", "--on", "ray", RAY_TMPDIR=str(suite.folder)))
    assert code == 2
    assert "There is no Ray cluster to be reached at ray" in errors
    code, _, errors = finish(salvo(suite, "run", "--on", "dask"))
    assert code == 2
    assert "a cluster is ray, or ray://HOST:10001" in errors
    assert provider.requests == []


def test_an_address_that_does_not_answer_is_given_up_with_a_sentence(suite: UserProject) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it accepts connections, and says nothing
        port = silent.getsockname()[1]
        for options, environ in (
            (("--on", f"ray://127.0.0.1:{port}"), {}),
            (("--on", "ray"), {"RAY_ADDRESS": f"127.0.0.1:{port}"}),
        ):
            code, _, errors = finish(salvo(suite, "run", *options, **environ), seconds=150)
            assert code == 2, errors
            assert "There is no Ray cluster to be reached at" in errors
            assert str(port) in errors


BLOCKING = """
import time
from pathlib import Path
from salvo import AdapterResponse, BaseAdapter

class Agent(BaseAdapter):
    async def run(self, request):
        if request.seed == 101:
            time.sleep(60)
        names = (".env", "my.key", "cert.pem", ".git", "kept.txt", "ignored.txt")
        return AdapterResponse({name: Path(name).exists() for name in names})
"""
BLOCKED = """
scenario: blocked
adapter: agents:Agent
seed: 100
runs: 6
timeout: 3
user_message: hi
assertions: [{type: jmespath, path: final_output, operator: exists}]
"""


def test_code_that_blocks_is_interrupted_and_secrets_are_not_copied(
    suite: UserProject, cluster: ray.RayCluster
) -> None:
    shutil.rmtree(suite.folder / "scenarios")
    suite.write("scenarios/blocked.yaml", BLOCKED)
    suite.write("agents.py", BLOCKING)
    suite.write(".gitignore", "ignored.txt\n")
    for name in (".env", "my.key", "cert.pem", ".git/config", "kept.txt", "ignored.txt"):
        suite.write(name, "a secret")
    spread = salvo(suite, "run", "-q", "--on", "ray", "--processes", "2", RAY_ADDRESS=cluster.address)
    _, _, errors = finish(spread, seconds=120)
    runs = [json.loads(path.read_text()) for path in suite.runs()]
    assert len(runs) == 6, errors
    assert [run["run_id"][-4:] for run in runs if run["cause"] == "timeout"] == ["0002"]
    copied = {name for run in runs for name, exists in (run["final_output"] or {}).items() if exists}
    assert copied == {"kept.txt"}


def test_workers_of_a_cluster_share_one_adaptive_rate(suite: UserProject) -> None:
    calls, learning = 1500, 300
    suite.write("scenarios/greet.yaml", MANY.replace("RUNS", str(calls)))
    bucket = TokenBucket(50, learning=learning)
    with (
        LoopbackProvider(bucket, latency=0.02) as provider,
        ray.ray_cluster(environment(provider)) as cluster,
    ):
        command = salvo(suite, "run", "-j", "auto", "--on", "ray", "--processes", "2", RAY_ADDRESS=cluster.address)
        finish(command)
    refused = bucket.refused_later / (bucket.refused_later + calls - learning)
    print(f"\n{bucket.used:.1%} of the rate used, {refused:.1%} refused after the first {learning} calls")
    assert bucket.accepted == calls
    assert bucket.used > 0.9
    assert refused < 0.02


def test_ten_thousand_runs_cost_little_more_than_in_one_process(
    suite: UserProject, provider: LoopbackProvider, cluster: ray.RayCluster
) -> None:
    def cpu_of(runs: int, *options: str, **environ: str) -> tuple[float, float]:
        """Return the CPU that the command and the cluster use for so many runs, and how long they take."""
        suite.write("scenarios/greet.yaml", MANY.replace("RUNS", str(runs)))
        made = len(provider.requests)
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        with cluster.measured_cpu() as used:
            code, _, errors = finish(salvo(suite, "run", "-q", *options, **environ))
        after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - started
        assert code == 0, errors
        assert len(provider.requests) == made + runs
        assert len(suite.runs()) == runs
        # Moved and not deleted: ext4 takes longer to create files just after so many were deleted.
        suite.store.rename(suite.folder.parent / f"store-{len(provider.requests)}")
        suite.store.mkdir()
        command = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return command + (used[0] if "--on" in options else 0.0), seconds

    runs = 10_000
    on_ray = ("--on", "ray", "--processes", "2")
    started_alone, _ = cpu_of(2, "-j", "100", **environment(provider))
    started, _ = cpu_of(2, *on_ray, RAY_ADDRESS=cluster.address)
    alone, alone_wall = cpu_of(runs, "-j", "100", **environment(provider))
    nodes, wall = cpu_of(runs, *on_ray, RAY_ADDRESS=cluster.address)
    without_start = (nodes - started) / (alone - started_alone)
    print(
        f"\n{runs:,} runs: {alone:.1f} s of CPU and {alone_wall:.1f} s in one process, {nodes:.1f} s and {wall:.1f} s on "
        f"two nodes: {nodes / alone:.2f} times the CPU, {(nodes - alone) / runs * 1000:.2f} ms more per run. "
        f"2 runs: {started_alone:.1f} s and {started:.1f} s of CPU. Without these, {without_start:.2f} times the CPU"
    )


def test_twenty_kills_of_workers_and_drivers_lose_no_stored_run_and_repeat_none(suite: UserProject) -> None:
    runs, kills, at_once = 1_500, 20, 20
    chance = random.Random(7)
    calls: Counter[int] = Counter()
    lock = threading.Lock()

    def slowly(request: ProviderRequest) -> Answer:
        with lock:
            calls[request.body["seed"]] += 1
        return Say("hello", delay=0.05)

    suite.write("scenarios/greet.yaml", MANY.replace("RUNS", str(runs)))
    command = ("run", "--on", "ray", "--processes", "2", "-j", str(at_once), "--batch", "killed", "-q")
    named: set[int] = set()
    stored: dict[Path, bytes] = {}
    with LoopbackProvider(slowly) as provider, ray.ray_cluster(environment(provider)) as cluster:
        driver = salvo(suite, *command, RAY_ADDRESS=cluster.address)
        for kill in range(kills):
            target = len(suite.runs()) + chance.randrange(5, 40)
            while driver.poll() is None and len(suite.runs()) < target:
                time.sleep(0.02)
            if driver.poll() is not None:
                break
            if kill % 5 == 4:
                driver.kill()
                named |= _named(driver)
                stored |= {file: file.read_bytes() for file in suite.runs() if file not in stored}
                driver = salvo(suite, *command, RAY_ADDRESS=cluster.address)
            elif not _kill_worker(cluster, chance, driver):
                break
        else:
            kill = kills
        code, _, errors = finish(driver)
        named |= _numbers(errors)
    assert kill == kills, "the runs ended before all kills were made"
    assert code == 0, errors
    assert len(suite.runs()) == runs
    assert all(file.read_bytes() == before for file, before in stored.items())
    repeated = {seed - 99 for seed, count in calls.items() if count > 1}
    assert sum(calls.values()) <= runs + kills * at_once
    print(
        f"\n{kills} kills: {sum(calls.values()) - runs} calls more than {runs}, {len(named)} runs named as made again"
    )
    assert repeated <= named
    [batch] = json.loads(suite.salvo("report", "latest", "--json").stdout)["batches"]
    assert repeated <= {int(run_id.rpartition("-")[2]) for run_id in batch["lost"]["run_ids"]} <= named
    store = RunStore(suite.store)
    [batch_id] = store.batch_ids()
    assert [entry.number for entry in store.batch_entries(store.load_batch(batch_id))] == list(range(1, runs + 1))
    # A command that is killed between the file of a run and its line in the index leaves one run without a line.
    lines = [json.loads(line)["number"] for line in (suite.store / "history.jsonl").read_text().splitlines()]
    assert len(lines) == len(set(lines)) >= runs - kills // 5


def _kill_worker(cluster: ray.RayCluster, chance: random.Random, driver: "subprocess.Popen[str]") -> bool:
    """Kill a worker, unless the command ends before there is one. One that is listed may have ended when it is killed."""
    while driver.poll() is None:
        if workers := cluster.workers():
            with suppress(ProcessLookupError):
                os.kill(chance.choice(workers), signal.SIGKILL)
                return True
        time.sleep(0.02)
    return False


def _named(driver: "subprocess.Popen[str]") -> set[int]:
    return _numbers(driver.communicate()[1])


def _numbers(errors: str) -> set[int]:
    lines = [line for line in errors.splitlines() if line.startswith(("A worker ended", "An earlier command ended"))]
    return {int(number) for line in lines for number in re.findall(r"-(\d{4,})\b", line)}
