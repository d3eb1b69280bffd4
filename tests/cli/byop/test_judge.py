"""`byop judge`: a stored text judged again, to see how far the judge agrees with itself."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from salvo.cli.byop import byop
from tests.support.provider import LoopbackProvider, ProviderRequest, Say
from tests.support.wires import environment

TEXT = "This review assumes that German law applies. The clause is fully compliant with it, and nothing else matters."


def said(result: str, quote: str = "") -> Say:
    cited = [{"span": quote, "context": ""}] if quote else []
    return Say(json.dumps({"result": result, "confidence": 0.9, "evidence_citations": cited, "notes": "Seen."}))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackProvider]:
    """Passes everything, but changes its mind about certainty from its first evaluation to the later ones."""
    asked_about_certainty = iter(range(1000))

    def script(request: ProviderRequest) -> Say:
        if "certainty_language" not in request.last_user:
            return said("pass")
        return said("pass") if next(asked_about_certainty) < 3 else said("fail", "fully compliant with it")

    (tmp_path / "output.txt").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    with LoopbackProvider(script) as provider:
        for name, value in environment(provider).items():
            monkeypatch.setenv(name, value)
        yield provider


def test_judgings_show_which_result_flips_and_change_no_drift(project: LoopbackProvider) -> None:
    cli = CliRunner()
    assert cli.invoke(byop, ["run", "output.txt", "--json"]).exit_code == 0
    project.requests.clear()
    done = cli.invoke(byop, ["judge", "latest", "--times", "2", "--json"])
    assert done.exit_code == 0, done.output
    assert len(project.requests) == 2 * 12
    found = json.loads(done.stdout)
    flips = {check["check_id"]: check["flip_rate"] for check in found["checks"]}
    assert flips == {
        "assumption_disclosure": 0.0,
        "certainty_language": 1.0,
        "escalation_signal": 0.0,
        "unchecked_areas_disclosure": 0.0,
    }
    assert "certainty_language" in found["advice"]
    assert len(json.loads(cli.invoke(byop, ["drift", "--json"]).stdout)) == 1


def test_an_unknown_id_asks_nobody(project: LoopbackProvider) -> None:
    assert CliRunner().invoke(byop, ["judge", "nothing"]).exit_code == 2
    assert not project.requests
