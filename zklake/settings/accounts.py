"""Who may log in to the dashboard beside the shared user: [[dashboard.accounts]]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Self

from pydantic import SecretStr, model_validator

from zklake.roles import Role
from zklake.settings.group import Group
from zklake.settings.values import Name, SharedSecretOrFile


class AccountSettings(Group):
    """A person or a program."""

    name: Name
    """The user of basic authentication, and the name in the audit log."""
    role: Role = "viewer"
    """A viewer sees every page, an analyst may also ask SQL."""
    password: SharedSecretOrFile | None = None
    """Password of basic authentication; 12 characters or more, `file:/path` is read."""
    token: SharedSecretOrFile | None = None
    """Bearer token; 12 characters or more, `file:/path` is read."""

    @model_validator(mode="after")
    def _can_log_in(self) -> Self:
        if self.password is None and self.token is None:
            raise ValueError(f"{self.name} needs a password or a token")
        return self


def check_accounts(
    accounts: Sequence[AccountSettings], shared_user: str, shared_token: SecretStr | None
) -> None:
    """ValueError where it would not be clear whose credentials somebody gives."""
    names = Counter([shared_user, *(one.name for one in accounts)])
    if twice := sorted(name for name, count in names.items() if count > 1):
        raise ValueError(f"accounts: {', '.join(twice)} is there twice (dashboard.user counts)")
    given = [shared_token, *(one.token for one in accounts)]
    tokens = Counter(token.get_secret_value() for token in given if token is not None)
    if any(count > 1 for count in tokens.values()):
        raise ValueError("accounts: two have the same token; give each one of its own")
