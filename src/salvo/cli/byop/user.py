"""`byop user`: who may log in to the server."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import click

from salvo.cli.byop.database import open_store
from salvo.cli.output import ask_password, echo, echo_json
from salvo.engine.text.formatting import pluralize
from salvo.errors import NothingFoundError, UnknownIdError, UsageError
from salvo.playbooks.accounts import passwords
from salvo.playbooks.accounts.users import (
    OidcIdentity,
    Role,
    UserAccount,
    check_password,
    checked_identity,
    checked_name,
)

_role = click.Choice([str(role) for role in Role])


@click.group
def user() -> None:
    """Add, change and list the users who may log in to `byop serve`.

    Once there is a user, people log in on the page with their name and password, and what they do is recorded in their
    name. A reader can read and export, a reviewer also evaluate and review, an admin also delete. The address that the
    server prints and the token of --token-file keep working: they are for whoever runs the server. The audit log
    records each change.
    """


_password_option = click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input instead of making one."
)


@user.command
@click.argument("name")
@click.option("--role", type=_role, default=str(Role.REVIEWER), show_default=True, help="What the user may do.")
@_password_option
@click.option("--oidc-issuer", metavar="URL", help="The OpenID Connect provider that they log in with, and ...")
@click.option("--oidc-subject", metavar="SUBJECT", help="... who they are there: the claim `sub`.")
def add(name: str, role: str, password_stdin: bool, oidc_issuer: str | None, oidc_subject: str | None) -> None:
    """Add a user, and print a password for them that nobody can guess.

    NAME is what they type to log in and what is recorded of them, such as "Ada Brown" or an address. They can change
    the password on the page. With --oidc-issuer and --oidc-subject they log in with that provider and get no password.
    """
    name = checked_name(name)
    if oidc_issuer is not None and oidc_subject is not None:
        _add_linked(name, Role(role), checked_identity(oidc_issuer, oidc_subject), password_stdin)
        return
    if oidc_issuer is not None or oidc_subject is not None:
        raise UsageError("--oidc-issuer and --oidc-subject need each other.")
    password = _password(name, password_stdin)
    with open_store(make=True) as store:
        added = store.accounts.users.add(name, Role(role), passwords.hash_password(password))
    _report(f"{added.name} can log in as {added.role}.", password, is_known=password_stdin)


def _add_linked(name: str, role: Role, identity: OidcIdentity, password_stdin: bool) -> None:
    if password_stdin:
        raise UsageError("Who logs in with a provider gets no password.", hint="Leave out --password-stdin.")
    with open_store(make=True) as store:
        added = store.accounts.users.add(name, role, None, identity)
    echo(f"{added.name} can log in with {identity.issuer} as {added.role}.")


@user.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_users(as_json: bool) -> None:
    """List the users."""
    users = _users()
    if as_json:
        echo_json(json.dumps([asdict(one) for one in users], indent=2))
        return
    if not users:
        raise NothingFoundError("There are no users.", hint="Add one: byop user add NAME")
    width = max(len(one.name) for one in users)
    for one in users:
        state = "disabled" if one.disabled else f"since {one.created_at[:10]}"
        provider = "" if one.identity is None else f"  {one.identity.issuer} {one.identity.subject}"
        echo(f"{one.name:<{width}}  {one.role:<8}  {state}{provider}")
    echo(pluralize(len(users), "user"), err=True)


def _users() -> list[UserAccount]:
    try:
        with open_store() as store:
            return store.accounts.users.list()
    except UnknownIdError:  # there is no database yet
        return []


@user.command
@click.argument("name")
def disable(name: str) -> None:
    """Let a user no longer log in. Their sessions end at once, on every server. What they did stays recorded."""
    with open_store() as store:
        changed = store.accounts.users.set_disabled(name, disabled=True)
    echo(f"{changed.name} can no longer log in.")


@user.command
@click.argument("name")
def enable(name: str) -> None:
    """Let a disabled user log in again."""
    with open_store() as store:
        changed = store.accounts.users.set_disabled(name, disabled=False)
    echo(f"{changed.name} can log in again, as {changed.role}.")


@user.command
@click.argument("name")
@click.argument("role", type=_role)
def role(name: str, role: str) -> None:
    """Change what a user may do. It holds from their next request."""
    with open_store() as store:
        changed = store.accounts.users.set_role(name, Role(role))
    echo(f"{changed.name} has the role {changed.role}.")


@user.command
@click.argument("name")
@click.option(
    "--issuer", required=True, metavar="URL", help="The provider's address, as in --oidc-issuer of the server."
)
@click.option("--subject", required=True, help="Who the user is there: the claim `sub`.")
def link(name: str, issuer: str, subject: str) -> None:
    """Let a user log in with an OpenID Connect provider.

    A refused login is in the audit log with the subject of who tried, so they can try before they are linked.
    """
    identity = checked_identity(issuer, subject)
    with open_store() as store:
        linked = store.accounts.users.link(name, identity)
    echo(f"{linked.name} can log in with {issuer}, as the subject {subject}.")


@user.command
@click.argument("name")
def unlink(name: str) -> None:
    """Let a user no longer log in with an OpenID Connect provider. Their sessions end at once."""
    with open_store() as store:
        changed = store.accounts.users.unlink(name)
    rest = "" if changed.password_set_at else " They have no password either: `byop user reset-password` makes one."
    echo(f"{changed.name} can no longer log in with a login provider.{rest}")


@user.command("reset-password")
@click.argument("name")
@_password_option
def reset_password(name: str, password_stdin: bool) -> None:
    """Give a user a new password, and print it. Their sessions end, and wrong attempts are forgotten."""
    with open_store() as store:
        name = store.accounts.users.find(name).name
        password = _password(name, password_stdin)
        store.accounts.users.set_password(name, passwords.hash_password(password))
        store.accounts.attempts.clear(name)
    _report(f"{name} has a new password.", password, is_known=password_stdin)


def _password(name: str, from_stdin: bool) -> str:
    if not from_stdin:
        return passwords.random_password()
    password = ask_password("Password") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise UsageError("There is no password on standard input.", hint="Leave out --password-stdin to get one.")
    check_password(password, name)
    return password


def _report(sentence: str, password: str, *, is_known: bool) -> None:
    if is_known:
        echo(sentence)
        return
    echo(f"{sentence} Give them this password, which is shown only now; they can change it on the page:", err=True)
    echo(password)
