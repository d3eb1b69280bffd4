"""The options of `byop serve` for the login with an OIDC provider, and `byop user` for its users."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from salvo.cli.byop import byop, oidc_options
from salvo.cli.byop.serve import serve as serve_command
from salvo.playbooks.accounts.users import Role
from salvo.web.oidc.settings import OidcSettings
from tests.support.oidc import CLIENT_SECRET, mock_provider
from tests.support.web import server_process

ISSUER = "https://login.example.com/realms/firm"
NEEDED = ("--oidc-issuer", ISSUER, "--oidc-client-id", "salvo")
VARIABLE = oidc_options.SECRET_VARIABLE


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv(VARIABLE, CLIENT_SECRET)


def serve(*options: str) -> Result:
    return CliRunner().invoke(byop, ["serve", *options])


def taken(*options: str, environ: dict[str, str] | None = None) -> OidcSettings:
    """The settings that the options give."""
    parameters = serve_command.make_context("serve", list(options)).params
    settings = oidc_options.take_settings(parameters, {VARIABLE: CLIENT_SECRET} if environ is None else environ)
    assert settings is not None
    assert not [name for name in parameters if name.startswith("oidc_")]
    return settings


def test_the_options_become_settings() -> None:
    settings = taken(
        *NEEDED,
        *("--oidc-label", "Firm account", "--oidc-redirect-url", "https://review.example.com/login/oidc"),
        *("--oidc-scope", "groups", "--oidc-scope", "openid", "--oidc-name-claim", "name"),
        *("--oidc-role-claim", "groups", "--oidc-role", "a=b=admin", "--oidc-role", "c=reader"),
        *("--oidc-default-role", "reviewer", "--oidc-create-users", "--oidc-only"),
    )
    assert settings == OidcSettings(
        ISSUER,
        "salvo",
        CLIENT_SECRET,
        "Firm account",
        redirect_url="https://review.example.com/login/oidc",
        scopes=("openid", "profile", "email", "groups"),
        name_claim="name",
        role_claim="groups",
        roles={"a=b": Role.ADMIN, "c": Role.READER},
        default_role=Role.REVIEWER,
        creates_users=True,
        is_only_login=True,
    )
    assert CLIENT_SECRET not in repr(settings)
    assert taken(*NEEDED) == OidcSettings(ISSUER, "salvo", CLIENT_SECRET, "login.example.com")


@pytest.mark.parametrize(
    "options, message",
    [
        (("--oidc-client-id", "salvo"), "--oidc-client-id needs --oidc-issuer."),
        (("--oidc-role", "a=admin"), "--oidc-role needs --oidc-issuer."),
        (("--oidc-issuer", ISSUER), "--oidc-issuer needs --oidc-client-id."),
        (("--oidc-client-id", "x", "--oidc-issuer", "http://login.example.com"), "cannot be used"),
        (("--oidc-client-id", "x", "--oidc-issuer", "https://a:b@login.example.com"), "cannot be used"),
        (("--oidc-client-id", "x", "--oidc-issuer", "https://login.example.com?x=y"), "cannot be used"),
        (("--oidc-client-id", "x", "--oidc-issuer", "login.example.com"), "cannot be used"),
        ((*NEEDED, "--oidc-redirect-url", "https://review.example.com/"), "cannot be used"),
        ((*NEEDED, "--oidc-redirect-url", "https://a.example.com/login/oidc"), "Add --allow-host a.example.com"),
        ((*NEEDED, "--oidc-redirect-url", "http://review.example.com/login/oidc"), "cannot be used"),
        ((*NEEDED, "--oidc-label", "a\nb"), "--oidc-label has at most"),
        ((*NEEDED, "--oidc-role-claim", "groups"), "--oidc-role-claim and --oidc-role need each other."),
        ((*NEEDED, "--oidc-role", "a=admin"), "--oidc-role-claim and --oidc-role need each other."),
        ((*NEEDED, "--oidc-role-claim", "g", "--oidc-role", "a"), "does not say which value gives which role"),
        ((*NEEDED, "--oidc-role-claim", "g", "--oidc-role", "a=boss"), "does not say which value gives which role"),
        ((*NEEDED, "--oidc-create-users"), "--oidc-create-users needs to know which role"),
        ((*NEEDED, "--oidc-default-role", "reader"), "--oidc-default-role has no effect"),
    ],
)
def test_options_that_do_not_fit_are_refused_with_what_to_do(options: tuple[str, ...], message: str) -> None:
    refused = serve(*options)
    assert refused.exit_code == 2
    assert message in refused.stderr


def test_the_secret_is_read_from_a_private_file_or_the_environment_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{CLIENT_SECRET}\n")
    file.chmod(0o600)
    assert taken(*NEEDED, "--oidc-client-secret-file", str(file), environ={}).client_secret == CLIENT_SECRET
    both = serve(*NEEDED, "--oidc-client-secret-file", str(file))
    assert "both give a secret" in both.stderr
    monkeypatch.setenv(VARIABLE, "")
    file.chmod(0o644)
    for options, message in (
        (("--oidc-client-secret-file", str(file)), "is not yours alone, so its secret may be known to others."),
        (("--oidc-client-secret-file", "missing"), "The secret in missing cannot be read"),
        ((), "needs the client secret that the provider gave for this server"),
    ):
        refused = serve(*NEEDED, *options)
        assert (refused.exit_code, CLIENT_SECRET in refused.output) == (2, False)
        assert message in refused.stderr
    assert not [option for option in serve_command.params if option.name == "oidc_client_secret"]


def test_the_secret_does_not_stay_in_the_environment() -> None:
    environ = {VARIABLE: CLIENT_SECRET}
    taken(*NEEDED, environ=environ)
    assert environ == {}


def test_without_the_extra_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "authlib", None)
    refused = serve(*NEEDED)
    assert refused.exit_code == 2
    assert "needs the package Authlib, which is not installed." in refused.stderr
    assert "pip install '.[oidc]'" in refused.stderr


def test_a_server_without_a_provider_loads_nothing_of_it() -> None:
    program = (
        "import sys, salvo.cli.byop.serve; print([name for name in ('authlib', 'joserfc') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert shown == "[]\n"


def test_the_command_serves_and_says_with_whom_people_log_in(tmp_path: Path) -> None:
    with (
        mock_provider() as issuer,
        server_process(tmp_path, *("--oidc-issuer", issuer, "--oidc-client-id", "x")) as server,
    ):
        assert server.url.startswith("http://127.0.0.1:")
        host = issuer.removeprefix("http://").partition(":")[0]
        assert f"People can log in with {host}, which sends browsers back to" in server.log.read_text()
        assert CLIENT_SECRET not in server.log.read_text()
        if sys.platform == "linux":
            assert CLIENT_SECRET.encode() not in Path(f"/proc/{server.process.pid}/cmdline").read_bytes()


def user(*arguments: str) -> Result:
    return CliRunner().invoke(byop, ["user", *arguments])


def test_users_are_linked_and_unlinked() -> None:
    added = user("add", "Ada Brown", "--role", "admin", "--oidc-issuer", ISSUER, "--oidc-subject", "ada")
    assert added.stdout == f"Ada Brown can log in with {ISSUER} as admin.\n"
    user("add", "Bob")
    taken_by_ada = user("link", "Bob", "--issuer", ISSUER, "--subject", "ada")
    assert (taken_by_ada.exit_code, "is linked to Ada Brown already" in taken_by_ada.stderr) == (2, True)
    assert "byop user unlink 'Ada Brown'" in taken_by_ada.stderr
    assert user("link", "bob", "--issuer", ISSUER, "--subject", "bob").stdout == (
        f"Bob can log in with {ISSUER}, as the subject bob.\n"
    )
    assert user("link", "Bob", "--issuer", ISSUER, "--subject", "robert").exit_code == 2
    assert f"{ISSUER} bob" in user("list").stdout
    [ada, _] = json.loads(user("list", "--json").stdout)
    assert (ada["identity"], ada["password_set_at"]) == ({"issuer": ISSUER, "subject": "ada"}, None)
    assert "They have no password either" in user("unlink", "Ada Brown").stdout
    assert user("unlink", "Ada Brown").exit_code == 2
    actions = [line.split()[2] for line in CliRunner().invoke(byop, ["audit"]).stdout.splitlines()[1:]]
    assert actions == ["user_added", "user_added", "user_linked", "user_unlinked"]
    assert CliRunner().invoke(byop, ["verify", "--all"]).exit_code == 0


@pytest.mark.parametrize(
    "options",
    [
        ("--oidc-issuer", ISSUER),
        ("--oidc-issuer", ISSUER, "--oidc-subject", ""),
        ("--oidc-issuer", ISSUER, "--oidc-subject", "a\x1bb"),
        ("--oidc-issuer", ISSUER, "--oidc-subject", "x" * 256),
        ("--oidc-issuer", ISSUER, "--oidc-subject", "ada", "--password-stdin"),
    ],
)
def test_an_identity_that_cannot_be_used_is_refused(options: tuple[str, ...]) -> None:
    assert user("add", "Ada", *options).exit_code == 2
    assert user("list").exit_code != 0  # and there is no such user
