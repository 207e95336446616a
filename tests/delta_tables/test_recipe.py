"""The recipes of CONTRIBUTING.md for kinds and tables, followed: toys stay, players leave.

In a copy of the product each gets its line in the registry, and nothing else is touched.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from delta_tables.catalog import TABLES
from delta_tables.table import Column, Table
from tests.delta_tables.test_catalog import find_lacks
from tests.delta_tables.toy_table import TOYS
from tests.recipes.copying import ROOT, copy_product, insert, run

HERE = Path(__file__).parent


def follow_recipes(copy: Path) -> None:
    """Files of kinds and of tables, and in each registry an import and a line."""
    copy_product(copy, "zklake", "delta_tables")
    shutil.copy(HERE / "toy_kind.py", copy / "zklake" / "events" / "payloads" / "toy.py")
    kinds = copy / "zklake" / "events" / "kinds.py"
    insert(kinds, "    topic,\n)", before="    toy,\n")
    insert(kinds, "    *topic.KINDS,\n", before="    *toy.KINDS,\n")
    shutil.copy(HERE / "toy_table.py", copy / "delta_tables" / "tables" / "toys.py")
    shutil.copy(HERE / "toy_ephemeral_table.py", copy / "delta_tables" / "tables" / "players.py")
    catalog = copy / "delta_tables" / "catalog.py"
    line = "from delta_tables.tables.znode_events import ZNODE_EVENTS\n"
    for name in ("players", "toys"):
        imported = f"from delta_tables.tables.{name} import {name.upper()}\n"
        insert(catalog, line, before=imported)
        insert(catalog, "    ZNODE_EVENTS,\n", before=f"    {name.upper()},\n")


ASK = """
import json, sys
from delta_tables.catalog import TABLE_BY_NAME, TABLES
from delta_tables.docs import describe
from delta_tables.asking.querying import check_query
from delta_tables.reading import open_tables, query_rows
from tests.delta_tables.empty_lake import make_empty_lake
from tests.delta_tables.test_catalog import find_lacks
from zklake.events.docs import render_docs
from zklake.events.kinds import KIND_BY_NAME
from zklake.events.paths import classify

toys, kind, lake = TABLE_BY_NAME["toys"], KIND_BY_NAME["toy"], sys.argv[1]
make_empty_lake(lake, "c", TABLES)
tables = open_tables(lake, "c")
sql = check_query("SELECT toy, wheels FROM toys WHERE is_open", tables).sql
print(json.dumps({
    "kind": classify("/toys/lorry").kind,
    "reads": [kind.decode(sample.data).wheels for sample in kind.samples],
    "events.md": render_docs()["events.md"],
    "tables.md": describe(),
    "lacks": find_lacks(toys),
    "comments": {f.name: f.metadata["comment"] for f in tables["toys"].schema().fields},
    "rows": query_rows(tables, sql),
}))
"""


def test_a_file_and_a_line_make_a_kind_and_a_table(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    follow_recipes(copy)
    told = json.loads(run(copy, "-c", ASK, str(tmp_path / "lake")))
    assert (told["kind"], told["reads"]) == ("toy", [4])
    assert "| `toy` |" in told["events.md"]
    assert "## toys\n\nOne row per state of one toy" in told["tables.md"]
    assert told["comments"]["wheels"] == "how many wheels it has"
    assert (told["lacks"], told["rows"]) == ([], [])


@pytest.mark.parametrize(
    ("lacks", "toys"),
    [
        ("a grain that is a sentence", replace(TOYS, grain="toys")),
        ("words for how a row ends", replace(TOYS, ends=())),
        ("partitions by is_open and closed_on", replace(TOYS, partition_by=())),
        ("a Delta checkpoint interval", replace(TOYS, properties={})),
        ("the cluster in its key", replace(TOYS, key=("toy",))),
        (
            "a way to read its key",
            replace(
                TOYS,
                key=(*TOYS.key, "wheels"),
                columns=(*TOYS.columns[:2], Column("wheels", "INT", "not read"), *TOYS.columns[3:]),
            ),
        ),
        ("the znode columns at its end", replace(TOYS, columns=TOYS.columns[:-1])),
    ],
)
def test_who_forgets_something_is_told_what(lacks: str, toys: Table) -> None:
    assert lacks in find_lacks(toys)


def test_every_file_of_a_table_has_its_line_in_the_catalogue() -> None:
    files = {path.stem for path in (ROOT / "delta_tables" / "tables").glob("*.py")} - {"__init__"}
    assert files == {table.name for table in TABLES}


FOLD = """
import sys
from delta_tables.reading import read_rows
from streaming.batch import Fold
from streaming.lake.lake import Lake
from streaming.lake.progress import LakeProgress
from bench.records import make_records
from tests.streaming.story import Story
from zklake.events.envelope import Stat, encode

story = Story()
for op, version, data in (
    ("create", 0, '{"version":1,"wheels":4}'),
    ("set", 1, '{"version":1,"wheels":3}'),
    ("set", 2, "three wheels, I think"),
):
    stat = story.stat(10, version, 10 + version)
    story.add(op=op, path="/toys/lorry", kind="toy", data=data, stat=stat)
# ann and bob leave with their session, in an unbroken run; cy leaves alone, and her session stays.
for name, session in (("ann", 0xA), ("bob", 0xA), ("cy", 0xC), ("dora", 0xC)):
    stat = Stat(czxid=20, mzxid=20, version=0, ephemeral_owner=session)
    story.add(op="create", path=f"/players/{name}", kind="player", data="", stat=stat)
at_ms = story.at_ms
for name in ("ann", "bob", "cy"):
    story.add(
        op="delete", path=f"/players/{name}", kind="player", origin="watch",
        stat=Stat(czxid=20), observed_at_ms=at_ms,
    )
data = '{"version":1,"wheels":0}'
story.add(op="create", path="/toys/ball", kind="toy", data=data, stat=story.stat(30))
lake = Lake(sys.argv[1], "c")
lake.create_tables()
fold = Fold(lake, LakeProgress(), "zklake.c")
fold.fold_batch(make_records([encode(event) for event in story.events]))
sql = "SELECT toy, wheels, is_open, ended_by, decode_error FROM toys ORDER BY valid_from_seq"
print([tuple(row.values()) for row in read_rows(sys.argv[1], "c", sql)])
sql = "SELECT player, session, is_open, ended_by FROM players ORDER BY player"
print([tuple(row.values()) for row in read_rows(sys.argv[1], "c", sql)])
"""


def test_the_stream_folds_it_and_anyone_reads_it(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    follow_recipes(copy)
    lake = str(tmp_path / "lake")
    toys, players = (eval(line) for line in run(copy, "-c", FOLD, lake).splitlines())
    assert toys == [
        ("lorry", 4, False, "changed", None),
        ("lorry", 3, False, "unreadable", None),
        ("lorry", None, True, None, "malformed"),
        ("ball", 0, True, None, None),
    ]
    assert players == [
        ("ann", 0xA, False, "session_ended"),
        ("bob", 0xA, False, "session_ended"),
        ("cy", 0xC, False, "deleted"),
        ("dora", 0xC, True, None),
    ]
