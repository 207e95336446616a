"""The bug museum: each planted defect must be caught, or the oracle proves nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.reference.accounting import Accounts, account
from tests.reference.ideal import Record
from tests.reference.story import publish


def spoil(plant: Callable[[list[Record]], None], **options: Any) -> Accounts:
    """The accounts after one defect, seq made whole again."""
    history, ideal = publish(**options)
    plant(ideal.records)
    for place, record in enumerate(ideal.records):
        record["seq"] = 1000 + place
        record["observed_at_ms"] = 1000 + place
    return account(history.changes, ideal.records)


def find(records: list[Record], op: str, path: str, origin: str | None = None) -> Record:
    """The first such record."""
    return next(
        r
        for r in records
        if (r["op"], r["path"]) == (op, path) and origin in (None, r.get("origin"))
    )


def find_gap(records: list[Record]) -> Record:
    """The gap after the first start."""
    return next(r for r in records if r["op"] == "gap" and "from_zxid" in r["gap"])


def drop_event(records: list[Record]) -> None:
    records.remove(find(records, "set", "/a"))


def drop_last_event(records: list[Record]) -> None:
    records.pop()


def drop_inferred_set(records: list[Record]) -> None:
    records.remove(find(records, "set", "/a/c", "resync"))


def drop_inferred_delete(records: list[Record]) -> None:
    records.remove(find(records, "delete", "/b", "resync"))


def count_too_few_missed(records: list[Record]) -> None:
    find(records, "set", "/a/c", "resync")["missed"] = 0


def drop_lives(records: list[Record]) -> None:
    records.remove(find(records, "gap", "/a"))


def drop_delete_of_session_close(records: list[Record]) -> None:
    records.remove(find(records, "delete", "/b/f"))


def change_data(records: list[Record]) -> None:
    find(records, "create", "/b", "watch")["data_b64"] = "AAAA"


def change_version(records: list[Record]) -> None:
    find(records, "set", "/a")["stat"]["version"] = 7


def change_czxid(records: list[Record]) -> None:
    find(records, "set", "/a")["stat"]["czxid"] += 1


def claim_superseded(records: list[Record]) -> None:
    last = records[-1]
    del last["data"]
    last["fidelity"] = "superseded"


def leak_redacted(records: list[Record]) -> None:
    find(records, "set", "/a")["fidelity"] = "redacted"


def drop_gap(records: list[Record]) -> None:
    records.remove(find_gap(records))


def claim_later_sight(records: list[Record]) -> None:
    find_gap(records)["gap"]["from_zxid"] += 1


def leave_out_of_frame(records: list[Record]) -> None:
    records.remove(find(records, "read", "/a/c"))


UNEXPLAINED = (
    drop_event,
    drop_last_event,
    drop_inferred_set,
    drop_inferred_delete,
    count_too_few_missed,
    drop_lives,
    drop_delete_of_session_close,
    change_data,
    change_version,
    change_czxid,
    claim_superseded,
    leak_redacted,
    drop_gap,
    claim_later_sight,
    leave_out_of_frame,
)


@pytest.mark.parametrize("has_zxid", [True, False])
@pytest.mark.parametrize("plant", UNEXPLAINED, ids=lambda plant: plant.__name__)
def test_museum_of_unexplained(plant: Callable[[list[Record]], None], has_zxid: bool) -> None:
    assert spoil(plant, has_zxid=has_zxid).unexplained


def add_phantom(records: list[Record]) -> None:
    ghost = {**find(records, "set", "/a"), "path": "/ghost"}
    records.insert(records.index(find(records, "set", "/a")), ghost)


def repeat_event(records: list[Record]) -> None:
    event = find(records, "set", "/a")
    records.insert(records.index(event), dict(event))


def infer_in_sight(records: list[Record]) -> None:
    event = {**find(records, "set", "/a"), "origin": "resync"}
    records.insert(records.index(find_gap(records)) + 1, event)


def infer_delete_of_living(records: list[Record]) -> None:
    event = find(records, "set", "/a/c", "resync")
    delete = {**event, "op": "delete", "path": "/a", "stat": {}}
    records.insert(records.index(event), delete)


def infer_wrong_data(records: list[Record]) -> None:
    find(records, "create", "/b", "resync")["data_b64"] = "AAAA"


def count_too_many_lives(records: list[Record]) -> None:
    find(records, "gap", "/a")["gap"]["lives"] = 2


def count_too_many_missed(records: list[Record]) -> None:
    find(records, "set", "/a/c", "resync")["missed"] = 2


def read_wrong_data(records: list[Record]) -> None:
    find(records, "read", "/a")["data"] = "9"


def call_unreadable(records: list[Record]) -> None:
    records.append({**records[-1], "op": "unreadable"})


PHANTOMS = (
    add_phantom,
    repeat_event,
    infer_in_sight,
    infer_delete_of_living,
    infer_wrong_data,
    count_too_many_lives,
    count_too_many_missed,
    read_wrong_data,
    call_unreadable,
)


@pytest.mark.parametrize("has_zxid", [True, False])
@pytest.mark.parametrize("plant", PHANTOMS, ids=lambda plant: plant.__name__)
def test_museum_of_phantoms(plant: Callable[[list[Record]], None], has_zxid: bool) -> None:
    accounts = spoil(plant, has_zxid=has_zxid)
    assert accounts.phantoms or accounts.unexplained
    assert not accounts.is_clean


@pytest.mark.parametrize("has_zxid", [True, False])
def test_swapped_order_is_caught(has_zxid: bool) -> None:
    def swap(records: list[Record]) -> None:
        at = records.index(find(records, "set", "/a")) + 1
        records[at], records[at + 1] = records[at + 1], records[at]

    accounts = spoil(swap, has_zxid=has_zxid)
    assert not accounts.order_equal
    assert len(accounts.out_of_order) == 1


def test_deletes_of_one_session_close_come_in_any_order() -> None:
    def swap(records: list[Record]) -> None:
        at = records.index(find(records, "delete", "/b/e"))
        records[at], records[at + 2] = records[at + 2], records[at]

    assert spoil(swap).is_clean


@pytest.mark.parametrize(
    ("field", "value"), [("seq", 1004), ("seq", 1002), ("observed_at_ms", 1), ("log_id", "other")]
)
def test_seq_faults_are_caught(field: str, value: Any) -> None:
    history, ideal = publish()
    ideal.records[3][field] = value
    accounts = account(history.changes, ideal.records)
    assert accounts.seq_faults
    assert not accounts.is_clean
