"""A worker process and its pipes: what it writes to standard error is what the user sees between our own messages."""

import subprocess
import sys
from subprocess import PIPE

from salvo.engine.sandbox.frames import read_frame
from salvo.scenarios.run.executors.messages import Message, WorkerSetup, pack, plain

# What `main` flushes last, when its event loop has ended: here it takes a moment, and tells that it has begun.
SLOW_TO_END = """
import io, sys, time

class SlowToFlush(io.StringIO):
    def flush(self):
        print("flushing", file=sys.stderr, flush=True)
        time.sleep(0.5)

sys.stdout = SlowToFlush()
from salvo.scenarios.run.executors.worker_process import main
main()
"""


def test_a_message_that_comes_while_the_worker_ends_is_ignored() -> None:
    refused = WorkerSetup(salvo_version="0", root="", cwd=".", batches=[])
    with subprocess.Popen([sys.executable, "-c", SLOW_TO_END], stdin=PIPE, stdout=PIPE, stderr=PIPE) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        assert worker.stderr is not None
        worker.stdin.write(pack([Message("setup", plain(refused))]))
        worker.stdin.flush()
        [kind, fields], _ = read_frame(worker.stdout)
        assert worker.stderr.readline() == b"flushing\n"
        worker.stdin.write(pack([Message("end")]))
        worker.stdin.flush()
        errors = worker.stderr.read()
    assert kind == "failed"
    assert "Install the same version everywhere." in fields["hint"]
    assert errors == b""
    assert worker.returncode == 0


def test_a_worker_whose_command_ended_before_it_was_set_up_ends_silently() -> None:
    command = [sys.executable, "-c", "from salvo.scenarios.run.executors.worker_process import main; main()"]
    worker = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert (worker.returncode, worker.stdout, worker.stderr) == (0, b"", b"")
