"""The lists themselves: sorted, and free of what could hold text."""

from __future__ import annotations

import pytest

from zklake.credential_signs import resembles_credential
from zklake.events import config_keys
from zklake.events.config_redaction import FORMS
from zklake.events.kinds import KINDS

LISTS = {
    name: keys for name, keys in vars(config_keys).items() if name.isupper() and name[0] != "_"
}


@pytest.mark.parametrize("name", LISTS)
def test_each_list_is_sorted_and_holds_a_key_once(name: str) -> None:
    assert list(LISTS[name]) == sorted(set(LISTS[name]))


@pytest.mark.parametrize("kind", FORMS)
def test_no_listed_key_is_called_like_a_credential(kind: str) -> None:
    assert [key for key in FORMS[kind] if resembles_credential(key)] == []


@pytest.mark.parametrize("kind", FORMS)
def test_no_listed_key_takes_text_of_any_form(kind: str) -> None:
    for key, fits in FORMS[kind].items():
        for text in (
            "hunter2",
            "a b",
            "https://h/",
            "deadbeef",
            "0x7f",
            "1" * 64,
            "4111-1111-1111",
            "T0K3N",
            "user:x",
        ):
            assert not fits(text), key


def test_every_kind_of_config_has_a_list() -> None:
    assert set(FORMS) == {k.name for k in KINDS if k.sensitivity in ("config", "user")}
