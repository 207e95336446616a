from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zklake import credential_signs
from zklake.events import credentials
from zklake.events.credentials import MASK, Ambiguous, is_suspicious, mask, parse_json

KEYS = st.from_regex(credentials._SECRET_KEY)
VALUES = st.from_regex(credential_signs._SECRET_VALUE)


@given(KEYS | VALUES)
def test_the_fast_look_misses_nothing_that_masking_would_find(text: str) -> None:
    assert is_suspicious(text.encode(errors="surrogatepass"))
    assert is_suspicious(json.dumps(text).encode())


@given(KEYS, st.text(min_size=1))
def test_the_value_of_a_secret_key_is_masked(key: str, value: str) -> None:
    (masked,) = mask({key: value}, keep_numbers=False).values()
    assert masked == MASK or masked in credentials._HARMLESS


@given(VALUES)
def test_a_secret_value_is_masked_whatever_its_key(value: str) -> None:
    assert mask({"a": [value]}, keep_numbers=True) == {"a": [MASK]}


@pytest.mark.parametrize(
    "key",
    ["retention.ms", "cleanup.policy", "leader.replication.throttled.replicas", "isr", "host"],
)
def test_ordinary_keys_keep_their_values(key: str) -> None:
    assert mask({key: "v"}, keep_numbers=False) == {key: "v"}


def test_numbers_go_or_stay_and_nothing_else_does() -> None:
    tree = {"token": [1, "x", None, True, 2.5]}
    assert mask(tree, keep_numbers=True) == {"token": [1, MASK, None, True, 2.5]}
    assert mask(tree, keep_numbers=False) == {"token": [MASK, MASK, None, True, MASK]}


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', "NaN", "[-Infinity]", "1e999"])
def test_what_parsers_read_differently_is_refused(text: str) -> None:
    with pytest.raises(Ambiguous):
        parse_json(text)
