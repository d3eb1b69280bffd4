"""Playbooks that are saved in versions; on both databases."""

import pytest

from salvo.errors import InputError, PlaybookChangedError, UnknownIdError
from salvo.playbooks.audit.verification import verify_store
from salvo.playbooks.audit.verification.finding import VerificationState
from salvo.playbooks.playbook import library
from salvo.playbooks.store.store import EvaluationStore
from tests.support.playbooks import a_playbook


def test_versions_are_numbered_and_stay_as_they_were_saved(store: EvaluationStore) -> None:
    saved = store.saved_playbooks
    first = saved.save(a_playbook(), saved_by="Dana", note="First.", based_on=None)
    second = saved.save(a_playbook(version="1.1.0"), saved_by="Kim", based_on=1)
    assert [(version.number, version.version, version.saved_by) for version in saved.versions("a_playbook")] == [
        (1, "1.0.0", "Dana"),
        (2, "1.1.0", "Kim"),
    ]
    assert saved.load("a_playbook").saved == second
    assert (saved.load("a_playbook", 1).saved, saved.load("a_playbook", 1).document) == (first, a_playbook().document)
    assert [version.saved for version in saved.newest()] == [second]
    with pytest.raises(UnknownIdError, match="no version 3 of saved playbook a_playbook"):
        saved.load("a_playbook", 3)


def test_a_version_that_somebody_else_saved_meanwhile_is_not_lost(store: EvaluationStore) -> None:
    store.saved_playbooks.save(a_playbook(), saved_by="Dana", based_on=None)
    for based_on in (None, 7):
        with pytest.raises(PlaybookChangedError, match="Dana saved version 1 of a_playbook"):
            store.saved_playbooks.save(a_playbook(version="1.1.0"), saved_by="Kim", based_on=based_on)
    assert len(store.saved_playbooks.versions("a_playbook")) == 1


@pytest.mark.parametrize(
    "changes, reason",
    [
        ({}, "has not changed since version 1.0.0 was saved"),
        ({"author": "Kim"}, "Version 1.0.0 is saved already with other content"),
    ],
)
def test_a_version_needs_a_change_and_a_name_of_its_own(
    store: EvaluationStore, changes: dict[str, str], reason: str
) -> None:
    store.saved_playbooks.save(a_playbook(), saved_by="Dana", based_on=None)
    with pytest.raises(InputError, match=reason):
        store.saved_playbooks.save(a_playbook(**changes), saved_by="Kim", based_on=1)


@pytest.mark.parametrize("playbook_id", [library.STARTER, "with space", "../up", "x" * 101, "a/b"])
def test_an_id_that_cannot_be_used_is_refused(store: EvaluationStore, playbook_id: str) -> None:
    with pytest.raises(InputError, match=r"Id (belongs to|must begin)"):
        store.saved_playbooks.save(a_playbook(id=playbook_id), saved_by="Kim", based_on=None)


def test_a_withdrawn_playbook_can_be_restored_and_the_log_has_both(store: EvaluationStore) -> None:
    saved = store.saved_playbooks
    saved.save(a_playbook(), saved_by="Dana", based_on=None)
    saved.withdraw("a_playbook", by="Kim")
    assert (saved.newest(), len(saved.newest(withdrawn=True))) == ([], 1)
    assert saved.load("a_playbook", 1).document == a_playbook().document
    saved.restore("a_playbook", by="Dana")
    saved.withdraw("a_playbook", by="Kim")
    saved.save(a_playbook(version="1.1.0"), saved_by="Dana", based_on=1)
    assert [version.saved.number for version in saved.newest()] == [2]
    actions = [entry.action for entry in store.audit_log()]
    withdrawn, restored = "playbook_withdrawn", "playbook_restored"
    assert actions == ["playbook_saved", withdrawn, restored, withdrawn, restored, "playbook_saved"]
    assert all(finding.standing is VerificationState.HOLDS for finding in verify_store.verify_all(store)[1:])
    with pytest.raises(UnknownIdError):
        saved.withdraw("nothing", by="Kim")
