"""A playbook's pattern that never ends does not keep `byop run` from being interrupted."""

import signal
import sys
from pathlib import Path

import pytest

from tests.support.byop_project import ByopProject
from tests.support.playbook import document


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_ctrl_c_ends_an_evaluation_whose_patterns_are_being_matched(project: ByopProject) -> None:
    playbook = document()
    playbook["checks"][0]["detection_method"]["pattern_hints"] = ["(a+)+$"]
    project.write("hostile.md", "a" * 60 + "! This is a text.")
    process = project.process("run", "hostile.md", "--playbook", project.write_playbook(playbook))
    while not (workers := _children(process.pid)):
        assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, out + err
    assert "byop run --resume" in out + err
    assert "Traceback" not in err
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def _children(parent: int) -> list[int]:
    children = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(pid) for file in children for pid in file.read_text().split()]
