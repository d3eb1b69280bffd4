"""What a Ray cluster gets of a project. The runs on one are in test_ray.py."""

from pathlib import Path
from typing import Any

import pytest

from salvo.scenarios.run.executors import ray_cluster


class RayStub:
    options: dict[str, Any]

    def init(self, **options: Any) -> None:
        self.options = options


def test_neither_keys_nor_the_texts_of_playbook_evaluations_are_copied(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ray = RayStub()
    monkeypatch.setattr(ray_cluster, "_import_ray", lambda: ray)
    ray_cluster.RayConnection("ray", tmp_path)
    copied = ray.options["runtime_env"]
    assert copied["working_dir"] == str(tmp_path)
    private = {".env", ".env.*", "*.pem", "*.key", ".netrc", ".npmrc", ".pypirc", ".salvo", "byop_runs.db*"}
    assert private <= set(copied["excludes"])
