"""`byop verify`, on a real database and on files."""

import json
import sqlite3
from pathlib import Path

from inline_snapshot import snapshot

from salvo.playbooks.audit import signing
from salvo.playbooks.report import export
from salvo.playbooks.store.store import EvaluationStore
from tests.support.byop_project import ByopProject
from tests.support.playbooks import a_report, masked
from tests.support.stored_evaluations import NAMES, Byop, finish_evaluation


def test_what_holds_is_verified_with_0(run: Byop, three: EvaluationStore) -> None:
    shown = run("verify", "01k9a")
    assert shown.exit_code == 0
    assert masked(shown.stdout) == snapshot("""\
holds    playbook   The playbook is the one that was used: sha256:….
holds    inputs     The texts are those that were evaluated: sha256:….
holds    report     The report is unchanged: sha256:….
holds    votes      All 6 votes and their recorded calls are unchanged.
holds    history    The history agrees with the report.
holds    evidence   All 9 located quotes are in the text where the report says.
holds    results    The results, their confidence and consistency, and the status follow from the stored votes.
holds    rows       Every column of its rows is what the audit log says.
holds    audit log  The audit log is consistent: 6 entries, each with the hash of the previous one.
unknown  log signed The audit log is not signed, so somebody with write access to the database could have rebuilt it.

Consistent with the audit log. The audit log is not signed, so somebody with write access to the database could have rebuilt it.
""")
    assert run("verify", NAMES[1]).exit_code == 0
    assert run("verify", "latest").exit_code == 0


def test_what_was_altered_is_named_with_1(run: Byop, three: EvaluationStore, folder: Path) -> None:
    with sqlite3.connect(folder / "byop_runs.db") as other:
        other.execute("UPDATE byop_evaluations SET report = replace(report, 'ALERT', 'STABLE') WHERE id LIKE '01k9a%'")
    other.close()
    shown = run("verify", "01k9a")
    assert shown.exit_code == 1
    assert "summary.overall_status is STABLE, the audit log says ALERT" in shown.stdout
    assert shown.stdout.endswith("\n4 parts failed the verification.\n")
    found = json.loads(run("verify", "01k9a", "--json").stdout)
    assert (found["altered"], found["failed"]) == (3, 4)
    assert [part["part"] for part in found["findings"] if part["standing"] == "altered"] == [
        "report",
        "history",
        "rows",
    ]


def test_an_unknown_id_and_a_file_that_is_no_report_end_with_2(run: Byop, three: EvaluationStore, folder: Path) -> None:
    (folder / "notes.txt").write_text("notes")
    assert run("verify", "nowhere").exit_code == 2
    refused = run("verify", "notes.txt")
    assert (refused.exit_code, refused.stderr) == (
        2,
        snapshot("Error: notes.txt is not a report file: Expecting value: line 1 column 1 (char 0).\n"),
    )
    assert run("verify", "01k9").exit_code == 2
    assert run("verify", "01k9a", "--public-key", "x").exit_code == 2


def test_a_file_that_is_larger_than_any_report_is_not_read(run: Byop, three: EvaluationStore, folder: Path) -> None:
    with (folder / "large.json").open("wb") as file:
        file.truncate(2**40)  # a sparse file: it takes no space, and would take all memory
    for command in (["verify", "large.json"], ["compare", "large.json", "latest"]):
        shown = run(*command)
        assert shown.exit_code == 2
        assert "large.json is larger than 256 MiB, so it is not a report of ours." in shown.stderr


def test_a_signed_file_is_verified_without_the_database(run: Byop, folder: Path) -> None:
    made = run("keys", "new")
    public = made.stdout.strip()
    assert made.stderr.replace(str(folder), "") == snapshot(
        "The key is in /settings/salvo/byop-signing-key.pem. Keep it secret, and give others the public key:\n"
    )
    assert run("keys", "show").stdout.strip() == public
    key = signing.read_key(folder / "settings/salvo/byop-signing-key.pem")
    (folder / "report.json").write_bytes(export.signed_json(a_report(), key).encode())
    shown = run("verify", "report.json", "--public-key", public)
    assert shown.exit_code == 0
    assert masked(shown.stdout).replace(public, "KEY") == snapshot("""\
holds    report     The report matches the hash that it names: sha256:….
holds    signature  The file was signed with the key that you named: KEY. It covers every byte of the file.
holds    results    The results, their confidence and consistency, and the status follow from the votes that the report lists. Not recomputed: whether certainty_language has enough quotes (the playbook says how many).
unknown  database   This database does not have the report.

Nothing was altered, as far as this can be checked.
""")
    other = run("keys", "new", "other.pem").stdout.strip()
    assert run("verify", "report.json", "--public-key", other).exit_code == 1
    (folder / "other.pub").write_text(other)
    assert run("verify", "report.json", "--public-key", "other.pub").exit_code == 1
    assert not (folder / "byop_runs.db").exists()


def test_html_and_markdown_are_signed_and_verified(run: Byop, store: EvaluationStore) -> None:
    finish_evaluation(store, NAMES[0])
    public = run("keys", "new").stdout.strip()
    for name in ("a.html", "a.md", "a.xml", "a.json"):
        assert run("show", "latest", "-o", name, "--sign").exit_code == 0
        shown = run("verify", name, "--public-key", public)
        assert (shown.exit_code, "It covers every byte of the file." in shown.stdout) == (0, True)
        assert "altered" not in shown.stdout.removesuffix("Nothing was altered.\n")
        content = Path(name).read_bytes()
        Path(name).write_bytes(content.replace(b"ALERT", b"STABLE"))
        assert run("verify", name, "--public-key", public).exit_code == 1
    assert run("show", "latest", "-o", "b.html").exit_code == 0
    assert "has the export of exactly this file" in run("verify", "b.html").stdout
    assert run("verify", "b.html", "--public-key", public).exit_code == 1


def test_a_forged_report_before_the_signed_one_is_refused(run: Byop, folder: Path) -> None:
    public = run("keys", "new").stdout.strip()
    key = signing.read_key(folder / "settings/salvo/byop-signing-key.pem")
    signed = export.signed_json(a_report(), key)
    forged = export.signed_json(a_report(), None).replace("ALERT", "STABLE")
    inner = forged.removeprefix("{").partition(',\n  "signature"')[0]
    (folder / "report.json").write_text("{" + inner + "," + signed.removeprefix("{"))
    shown = run("verify", "report.json", "--public-key", public)
    assert (shown.exit_code, shown.stderr) == (
        2,
        'Error: report.json is not a report file: it has the key "byop_report" twice in one object.\n',
    )


def test_a_file_is_compared_with_the_database_where_that_knows_it(
    run: Byop, store: EvaluationStore, folder: Path
) -> None:
    report = finish_evaluation(store)
    (folder / "report.json").write_text(export.signed_json(report, None))
    shown = run("verify", "report.json")
    assert (shown.exit_code, "The audit log has had this report" in shown.stdout) == (0, True)
    (folder / "byop_runs.db").write_bytes(b"no database " * 100)
    (folder / "byop_runs.db-wal").unlink(missing_ok=True)
    shown = run("verify", "report.json")
    assert (shown.exit_code, "The database could not be read." in shown.stdout) == (0, True)


def test_a_kept_head_is_looked_for(run: Byop, three: EvaluationStore) -> None:
    head = run("audit", "--head").stdout.strip()
    assert run("verify", "--head", head).exit_code == 0
    assert run("verify", "01k9a", "--head", head).exit_code == 0
    assert run("verify").exit_code == 0
    with three._database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM byop_audit WHERE sequence = 6")
    assert run("verify").exit_code == 0
    cut = run("verify", "--head", head)
    assert cut.exit_code == 1
    assert "was truncated or replaced" in cut.stdout


def test_a_part_that_is_not_altered_is_not_called_altered(run: Byop, store: EvaluationStore, folder: Path) -> None:
    finish_evaluation(store)
    mine, other = (run("keys", "new", name).stdout.strip() for name in ("mine.pem", "other.pem"))
    run("show", "latest", "--sign=mine.pem", "-o", "signed.json", "-o", "signed.md")
    run("show", "latest", "-o", "plain.json")
    (folder / "renamed.html").write_bytes((folder / "signed.md").read_bytes())

    def words(*arguments: str) -> tuple[str, str, dict[str, int]]:
        """The word for the signature in the text and in JSON, and the counts."""
        shown, found = run("verify", *arguments), json.loads(run("verify", *arguments, "--json").stdout)
        part = "log signed" if arguments[0] == "--public-key" else "signature"
        [line] = [line for line in shown.stdout.splitlines() if f" {part}" in line]
        [standing] = [finding["standing"] for finding in found["findings"] if finding["part"] == part]
        assert shown.exit_code == 1
        assert "1 part failed the verification." in shown.stdout
        return line.partition(part)[0].strip(), standing, {name: found[name] for name in ("altered", "failed")}

    failed = {"altered": 0, "failed": 1}
    assert words("signed.json", "--public-key", other) == ("other key", "other_key", failed)
    assert words("plain.json", "--public-key", mine) == ("not signed", "not_signed", failed)
    assert words("renamed.html", "--public-key", mine) == ("contradicted", "contradicted", failed)
    assert words("--public-key", mine) == ("not signed", "not_signed", failed)
    run("keys", "revoke", mine, "--reason", "stolen laptop")
    assert words("signed.json", "--public-key", mine) == ("revoked key", "revoked_key", failed)
    (folder / "signed.md").write_text((folder / "signed.md").read_text().replace("ALERT", "STABLE"))
    assert words("signed.md", "--public-key", other) == ("altered", "altered", {"altered": 1, "failed": 1})


def test_a_list_of_changes_that_is_shortened_says_how_many_more_there_are(project: ByopProject) -> None:
    project.evaluate()
    project.alter("UPDATE byop_votes SET vote = vote || ' '")
    verified = " ".join(project.byop("verify", "latest").output.split())
    assert "does not match its hash in the audit log; and 7 more." in verified
