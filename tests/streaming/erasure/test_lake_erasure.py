"""A lake without the values: nothing of them in any file, and the law holds for what is left."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from delta_tables import reading
from delta_tables.catalog import TABLE_BY_NAME
from streaming.erasure import erase as erasing
from streaming.erasure.erase import PENDING, Erasure
from streaming.erasure.secret_values import SecretValues
from streaming.erasure.selection import find_values
from streaming.lake.lake import Lake
from streaming.lake.lease import LeaseHeld, hold_lease
from streaming.maintenance.retention import Policy
from streaming.maintenance.upkeep import maintain
from streaming.rebuild import check_names, rebuild
from tests.delta_tables.readers import check_readers
from tests.streaming.lake.test_law_lake import (
    CLUSTER,
    LENGTH,
    SEED,
    TOPIC,
    Crash,
    Kafka,
    compare,
    expect,
    expect_of_groups,
    make_log,
)
from tests.streaming.test_batch import Log, encoded
from tests.streaming.test_rebuild import live_for_days
from zklake.errors import LakeError
from zklake.events.credentials import MASK
from zklake.events.envelope import Event

VALUES = ("kanarienvogel-1", 'ka"narienvogel\\-2')
# Every value contains it, in every spelling.
SIGN = "narienvogel"


def plant(events: Sequence[Event], values: Sequence[str], fidelity: str) -> list[Event]:
    """The log with a key more in each config, and other racks of brokers."""
    planted, number = list[Event](), 0
    for event in events:
        is_wanted = event.kind == "broker" or (event.kind or "").endswith("_config")
        data = event.data or ""
        tree = json.loads(data) if is_wanted and data.startswith("{") else {}
        value = values[event.seq % len(values)]
        if "config" in tree:
            tree["config"]["plugin.x"] = value
        elif event.kind == "broker" and tree:
            tree["rack"] = value
        else:
            planted.append(event)
            continue
        number += 1
        planted.append(
            msgspec.structs.replace(
                event,
                data=json.dumps(tree, separators=(",", ":")),
                fidelity=fidelity,
                data_hash=f"{number // 3:016x}",
            )
        )
    assert number > 4
    return planted


def erase(kafka: Kafka, *values: str) -> dict[str, int]:
    steps = Erasure(SecretValues(values or VALUES), kafka.path, CLUSTER).erase()
    return {f"{step.place}: {step.says}": step.count for step in steps}


def find_sign(directory: Path) -> list[str]:
    """Files that hold the sign, by another way than the product's own look."""
    found = []
    for path in directory.rglob("*"):
        if not path.is_file():
            continue
        text = path.read_bytes().decode(errors="replace")
        if path.suffix == ".parquet":
            text += str(pq.read_table(pa.BufferReader(path.read_bytes())).to_pylist())
        if SIGN in text:
            found.append(str(path))
    return found


@pytest.fixture(scope="module")
def folded(tmp_path_factory: pytest.TempPathFactory) -> Kafka:
    """A log with the values in it, folded in several batches and maintained meanwhile."""
    path = tmp_path_factory.mktemp("folded")
    kafka = Kafka(path, plant(make_log(SEED, LENGTH), VALUES, "exact"))
    kafka.values.append(b'{"v":9,"data":"' + VALUES[0].encode() + b'"}')
    kafka.fold(35, most=2)
    outcomes = [*maintain(kafka.path, CLUSTER, TABLE_BY_NAME, Policy())]
    assert not [outcome for outcome in outcomes if outcome.is_error]
    kafka.fold(41)
    assert len(find_sign(path)) > 5
    return kafka


@pytest.fixture
def kafka(folded: Kafka, tmp_path: Path) -> Kafka:
    """A lake of its own."""
    shutil.copytree(folded.path, tmp_path, dirs_exist_ok=True)
    kafka = Kafka(tmp_path, ())
    kafka.values = list(folded.values)
    return kafka


def check_law(kafka: Kafka) -> None:
    """The tables are those of a log in which the watcher had withheld the values."""
    masked = plant(make_log(SEED, LENGTH), (MASK,), "redacted")
    wanted = {**expect(masked), **expect_of_groups(masked)}
    compare(kafka, wanted)
    rebuild(Lake(kafka.path, CLUSTER), check_names(()), TOPIC, lambda _: None)
    compare(kafka, wanted)
    check_readers(kafka.path, CLUSTER)


def test_nothing_is_left_in_any_file_and_the_law_holds(kafka: Kafka, tmp_path: Path) -> None:
    before = [*Erasure(SecretValues(VALUES), kafka.path, CLUSTER).survey()]
    counts = {step.place: step.count for step in before}
    assert counts["table znode_events"] > 4
    assert counts["table config_history"]
    assert counts["table broker_membership"] > 1
    assert counts["table quarantine"] == 1
    assert counts[f"files below {tmp_path}/{CLUSTER}"] == len(find_sign(tmp_path))

    done = erase(kafka)
    assert done["table znode_events: rows masked"] == counts["table znode_events"]
    assert find_sign(tmp_path) == []
    check_law(kafka)
    assert not (tmp_path / CLUSTER / PENDING).exists()
    (aside,) = reading.read_rows(kafka.path, CLUSTER, "SELECT record FROM quarantine")
    assert bytes(aside["record"]) == b'{"v":9,"fidelity":"redacted"}'

    again = erase(kafka)
    assert not [says for says in again if "masked" in says]
    kafka.fold(10)
    check_law(kafka)


def test_the_log_goes_on_behind_it(tmp_path: Path) -> None:
    """Half is folded, erased, and the other half comes as a watcher would now publish it."""
    exact, masked = (
        plant(make_log(SEED, LENGTH), *how) for how in ((VALUES, "exact"), ((MASK,), "redacted"))
    )
    other = Kafka(tmp_path, [*exact[:70], *masked[70:]])
    other.fold(35, most=2)
    erase(other)
    other.fold(41)
    assert find_sign(tmp_path) == []
    compare(other, {**expect(masked), **expect_of_groups(masked)})


@pytest.mark.parametrize("victim", ["rebuild", "forget_past", "mask_table"])
def test_cut_off_anywhere_it_is_begun_again(
    victim: str, kafka: Kafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = iter(range(100))
    real = getattr(erasing, victim)

    def crash(*arguments: object, **named: object) -> object:
        # Of several tables the second.
        if victim == "rebuild" or next(calls) == 1:
            raise Crash
        return real(*arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(erasing, victim, crash)
        with pytest.raises(Crash):
            erase(kafka)
    erase(kafka)
    assert find_sign(tmp_path) == []
    check_law(kafka)


def test_rows_whose_events_were_trimmed_are_masked_in_place(tmp_path: Path) -> None:
    events = [
        msgspec.structs.replace(event, data=event.data and event.data.replace("az-a", VALUES[0]))
        for event in live_for_days().events
    ]
    log = Log(tmp_path, encoded(events))
    log.fold(len(log.values))
    policy = Policy(retention_days={"znode_events": 3})
    assert not [o for o in maintain(log.lake, "c", ["znode_events"], policy) if o.is_error]
    assert log.rows(f"SELECT seq FROM znode_events WHERE data LIKE '%{SIGN}%'") == []
    sql = "SELECT broker_id, rack, ended_by FROM broker_membership ORDER BY broker_id"
    before = log.rows(sql)
    assert {row["rack"] for row in before} == {VALUES[0]}

    assert [*Erasure(SecretValues(VALUES[:1]), log.lake, "c").erase()]
    assert find_sign(tmp_path) == []
    assert log.rows(sql) == [{**row, "rack": MASK} for row in before]


def test_values_are_found_by_where_they_stand(kafka: Kafka) -> None:
    assert find_values(kafka.path, CLUSTER, None, "plugin.x") == set(VALUES)
    with pytest.raises(LakeError, match="holds no value of it"):
        find_values(kafka.path, CLUSTER, "/nowhere", "plugin.x")
    sql = "SELECT path FROM znode_events WHERE data LIKE '%plugin.x%'"
    path = reading.read_rows(kafka.path, CLUSTER, sql)[0]["path"]
    with pytest.raises(LakeError, match="is JSON: name the key"):
        find_values(kafka.path, CLUSTER, path, None)


def test_a_lake_that_somebody_writes_is_refused(kafka: Kafka, tmp_path: Path) -> None:
    before = find_sign(tmp_path)
    with hold_lease(kafka.path, CLUSTER), pytest.raises(LeaseHeld, match="Stop that one"):
        # In another process it would be told by the file's change.
        erase(kafka)
    assert find_sign(tmp_path) == before


def test_a_wrong_address_does_not_look_like_a_value_that_is_gone(tmp_path: Path) -> None:
    erasure = Erasure(SecretValues(VALUES), str(tmp_path / "wrong"), CLUSTER)
    for steps in (erasure.survey(), erasure.erase()):
        with pytest.raises(LakeError, match="holds no tables"):
            list(steps)
    assert not (tmp_path / "wrong").exists()
