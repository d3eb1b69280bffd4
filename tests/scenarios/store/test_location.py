"""Addresses of stores: folders and object stores are told apart, and what cannot be one is refused."""

import sys
from pathlib import Path

import pytest

from salvo.errors import UsageError
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.location import open_existing, open_store, store_notice


def project(folder: Path, address: str | None) -> Project:
    return Project(folder, folder, store_address=address)


@pytest.mark.parametrize(
    "address, folder", [(None, ".salvo"), ("", ".salvo"), ("elsewhere", "elsewhere"), ("file://{}/other", "other")]
)
def test_a_folder_is_a_store(tmp_path: Path, address: str | None, folder: str) -> None:
    store = open_store(project(tmp_path, address and address.format(tmp_path)))
    assert (store.address, store.is_shared) == (str(tmp_path / folder), False)
    assert store_notice(store) == ""
    assert list(tmp_path.iterdir()) == []  # nothing is written before something is stored


@pytest.mark.parametrize(
    "address, message",
    [
        ("https://example.org/x", "https:// is not an address that runs can be stored at"),
        ("memory://x", "memory:// is not an address"),
        ("s3://id:secret@bucket/x", "contains neither credentials nor parameters"),
        ("s3://bucket/x?versionId=3", "contains neither credentials nor parameters"),
        ("s3://bucket/x#y", "contains neither credentials nor parameters"),
        ("s3://", "s3:// is not the address of a store"),
        ("s3:///x", "s3:///x is not the address of a store"),
        ("s3://bucket/../other", "is not the address of a store"),
        ("s3://bucket//x", "is not the address of a store"),
        ("file://host/x", "is not the URL of a folder on this machine"),
    ],
)
def test_what_cannot_be_a_store_is_refused_without_showing_a_secret(tmp_path: Path, address: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        open_store(project(tmp_path, address))
    assert "secret" not in str(raised.value)


def test_without_the_package_an_object_store_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "salvo.scenarios.store.backends.objects", raising=False)
    monkeypatch.setitem(sys.modules, "obstore.exceptions", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(UsageError, match=r"pip install '\.\[object-store\]'"):
        open_store(project(tmp_path, "s3://never-used-before/x"))


def test_the_server_is_named_where_the_environment_chooses_it(bucket: str, object_server: str, tmp_path: Path) -> None:
    store = open_store(project(tmp_path, bucket))
    assert store_notice(store) == f"Runs are stored in {bucket} at {object_server}."


def test_the_store_of_a_project_is_found_by_its_folder(tmp_path: Path, bucket: str) -> None:
    (tmp_path / "other" / ".salvo" / "batches").mkdir(parents=True)
    assert open_existing("other", tmp_path).address == str(tmp_path / "other" / ".salvo")
    assert open_existing(bucket, tmp_path).address == bucket
    with pytest.raises(UsageError, match="There is no store in nowhere"):
        open_existing("nowhere", tmp_path)


@pytest.mark.parametrize(
    "endpoint", ["", "localhost:9000", "http://", "ftp://localhost", "/path", "http://[bad", "http://a b"]
)
def test_a_variable_that_names_no_server_is_refused_with_a_sentence(
    tmp_path: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    with pytest.raises(UsageError, match="AWS_ENDPOINT_URL is not the URL of a server"):
        open_store(Project(tmp_path, tmp_path, store_address="s3://bucket/runs"))
