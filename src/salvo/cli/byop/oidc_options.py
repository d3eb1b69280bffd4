"""The options of `byop serve` for the login with an OIDC provider."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

import click

from salvo.cli.login_file import read_private
from salvo.cli.options import option_set
from salvo.cli.param_types import FILE_PATH
from salvo.engine.text.unicode_escape import printable
from salvo.engine.wire.addresses import host_name, is_encrypted_or_loopback, split_origin
from salvo.errors import UsageError
from salvo.playbooks.accounts.users import MAX_IDENTITY_LENGTH, Role
from salvo.web.oidc.settings import CALLBACK_PAGE, DEFAULT_NAME_CLAIM, DEFAULT_SCOPES, OidcSettings

SECRET_VARIABLE = "SALVO_OIDC_CLIENT_SECRET"  # noqa: S105 - the name of a variable

_ROLES = [str(role) for role in Role]


options = option_set(
    click.option(
        "--oidc-issuer",
        metavar="URL",
        help="Let people log in with this OpenID Connect provider (extra `oidc`), such as "
        "https://login.example.com/realms/firm. The other --oidc options need this one.",
    ),
    click.option("--oidc-client-id", metavar="ID", help="What the provider calls this server."),
    click.option(
        "--oidc-client-secret-file",
        type=FILE_PATH,
        metavar="FILE",
        help="The file with the client secret that the provider gave, readable by you only. The environment variable "
        f"{SECRET_VARIABLE} gives it instead.",
    ),
    click.option(
        "--oidc-label", metavar="NAME", help='The provider\'s name on the page: "Log in with NAME". [default: its host]'
    ),
    click.option(
        "--oidc-redirect-url",
        metavar="URL",
        help=f"Where the provider sends browsers back to: the address of this server with {CALLBACK_PAGE}. [default: "
        "the address that the browser has open]",
    ),
    click.option(
        "--oidc-scope",
        "oidc_scopes",
        multiple=True,
        metavar="SCOPE",
        help=f"Another scope to ask for, such as groups, beside {', '.join(DEFAULT_SCOPES)}. Can be repeated.",
    ),
    click.option(
        "--oidc-name-claim",
        metavar="CLAIM",
        help="The claim with the name of a new account, which their reviews have. Take one that people cannot change "
        f"themselves. [default: {DEFAULT_NAME_CLAIM}]",
    ),
    click.option(
        "--oidc-role-claim",
        metavar="CLAIM",
        help="The claim that decides about the role at every login, such as groups or realm_access.roles. Without it, "
        "`byop user role` does.",
    ),
    click.option(
        "--oidc-role",
        "oidc_roles",
        multiple=True,
        metavar="VALUE=ROLE",
        help=f"The role ({', '.join(_ROLES)}) that a value of --oidc-role-claim gives. Can be repeated; the highest "
        "counts.",
    ),
    click.option(
        "--oidc-default-role",
        type=click.Choice(_ROLES),
        help="The role of who has no such value, and of new accounts without --oidc-role-claim. Without it, they are "
        "refused.",
    ),
    click.option(
        "--oidc-create-users",
        is_flag=True,
        help="Make an account at the first login. Without it, only who has one can log in: `byop user link`.",
    ),
    click.option("--oidc-only", is_flag=True, help="Let nobody log in with a password."),
)


def take_settings(options: dict[str, Any], environ: MutableMapping[str, str]) -> OidcSettings | None:
    """Take the options and the secret out of the mappings, and return the settings; None without --oidc-issuer."""
    oidc_options = {name: options.pop(name) for name in list(options) if name.startswith("oidc_")}
    environment_secret = environ.pop(SECRET_VARIABLE, None)  # not passed on to the browser
    if oidc_options["oidc_issuer"] is None:
        used = [name for name, value in oidc_options.items() if value]
        if used:
            raise UsageError(f"--{used[0].removesuffix('s').replace('_', '-')} needs --oidc-issuer.")
        return None
    return _settings(oidc_options, environment_secret)


def _settings(oidc_options: Mapping[str, Any], environment_secret: str | None) -> OidcSettings:
    issuer = _checked_issuer(oidc_options["oidc_issuer"])
    if not oidc_options["oidc_client_id"]:
        raise UsageError("--oidc-issuer needs --oidc-client-id.", hint="It is what the provider calls this server.")
    label = oidc_options["oidc_label"] or host_name(issuer)
    if not label.isprintable() or len(label) > _MAX_LABEL:
        raise UsageError(f"--oidc-label has at most {_MAX_LABEL} characters that can be shown.")
    settings = OidcSettings(
        issuer,
        oidc_options["oidc_client_id"],
        _secret(oidc_options["oidc_client_secret_file"], environment_secret),
        label,
        redirect_url=_checked_redirect(oidc_options["oidc_redirect_url"]),
        scopes=tuple(dict.fromkeys((*DEFAULT_SCOPES, *oidc_options["oidc_scopes"]))),
        name_claim=oidc_options["oidc_name_claim"] or DEFAULT_NAME_CLAIM,
        role_claim=oidc_options["oidc_role_claim"],
        roles=dict(_mapped_role(text) for text in oidc_options["oidc_roles"]),
        default_role=None if oidc_options["oidc_default_role"] is None else Role(oidc_options["oidc_default_role"]),
        creates_users=oidc_options["oidc_create_users"],
        is_only_login=oidc_options["oidc_only"],
    )
    _check_roles(settings)
    return settings


_MAX_LABEL = 100


def _checked_issuer(url: str) -> str:
    if not is_encrypted_or_loopback(url) or "?" in url or "#" in url or len(url) > MAX_IDENTITY_LENGTH:
        raise UsageError(
            f"--oidc-issuer {printable(url)!r} cannot be used.",
            hint="It is an https address without a password, a query or a fragment, exactly as the provider writes it "
            "in the claim `iss`. On this machine it may be http.",
        )
    return url


def _checked_redirect(url: str | None) -> str | None:
    if url is None:
        return None
    if not is_encrypted_or_loopback(url) or split_origin(url)[1] != CALLBACK_PAGE or "#" in url:
        raise UsageError(
            f"--oidc-redirect-url {printable(url)!r} cannot be used.",
            hint=f"It is the address of this server with {CALLBACK_PAGE}: https://review.example.com{CALLBACK_PAGE}",
        )
    return url


def _secret(file: Path | None, environment_secret: str | None) -> str:
    if file is not None and environment_secret:
        raise UsageError(
            f"{SECRET_VARIABLE} and --oidc-client-secret-file both give a secret.", hint="Use one of them."
        )
    advice = "Make it yours with chown and chmod 600."
    secret = (environment_secret or "") if file is None else read_private(file, "secret", advice)
    if not secret or not secret.isprintable():
        raise UsageError(
            "--oidc-issuer needs the client secret that the provider gave for this server.",
            hint=f"Set {SECRET_VARIABLE}, or name a file that only you can read: --oidc-client-secret-file FILE",
        )
    return secret


def _mapped_role(text: str) -> tuple[str, Role]:
    value, _, role = text.rpartition("=")
    if not value or role not in _ROLES:
        raise UsageError(
            f"--oidc-role {printable(text)!r} does not say which value gives which role.",
            hint=f"Write VALUE=ROLE; the roles are {', '.join(_ROLES)}.",
        )
    return value, Role(role)


def _check_roles(settings: OidcSettings) -> None:
    if (settings.role_claim is None) is not (not settings.roles):
        raise UsageError(
            "--oidc-role-claim and --oidc-role need each other.",
            hint="For example: --oidc-role-claim groups --oidc-role lawyers=reviewer",
        )
    if settings.role_claim is None and settings.creates_users and settings.default_role is None:
        raise UsageError(
            "--oidc-create-users needs to know which role new accounts have.",
            hint="Add --oidc-default-role, or --oidc-role-claim with --oidc-role.",
        )
    if settings.role_claim is None and not settings.creates_users and settings.default_role is not None:
        raise UsageError(
            "--oidc-default-role has no effect without --oidc-role-claim or --oidc-create-users.",
            hint="`byop user role` decides about the role of an account that exists.",
        )
