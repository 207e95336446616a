"""The recipes of CONTRIBUTING.md, followed: a toy kind and a toy table, one file each.

In a copy of the product each gets its line in the registry, and nothing else is touched.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from delta_tables.catalog import TABLES
from delta_tables.table import Column, Table
from tests.delta_tables.test_catalog import find_lacks
from tests.delta_tables.toy_table import TOYS

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


def follow_recipes(copy: Path) -> None:
    """Two files, and in each registry an import and a line."""
    for package in ("zklake", "delta_tables"):
        shutil.copytree(
            ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(HERE / "toy_kind.py", copy / "zklake" / "events" / "payloads" / "toy.py")
    kinds = copy / "zklake" / "events" / "kinds.py"
    insert(kinds, "    topic,\n)", before="    toy,\n")
    insert(kinds, "    *topic.KINDS,\n", before="    *toy.KINDS,\n")
    shutil.copy(HERE / "toy_table.py", copy / "delta_tables" / "tables" / "toys.py")
    catalog = copy / "delta_tables" / "catalog.py"
    line = "from delta_tables.tables.znode_events import ZNODE_EVENTS\n"
    insert(catalog, line, before="from delta_tables.tables.toys import TOYS\n")
    insert(catalog, "    ZNODE_EVENTS,\n", before="    TOYS,\n")


def insert(file: Path, line: str, *, before: str) -> None:
    text = file.read_text()
    assert text.count(line) == 1, f"{file.name} has changed: mend this test"
    file.write_text(text.replace(line, before + line))


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


def run(code: str, copy: Path, lake: Path) -> subprocess.CompletedProcess[str]:
    """Some code in the copy."""
    return subprocess.run(
        [sys.executable, "-c", code, str(lake)],
        env={**os.environ, "PYTHONPATH": f"{copy}{os.pathsep}{ROOT}"},
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_file_and_a_line_make_a_kind_and_a_table(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    follow_recipes(copy)
    ran = run(ASK, copy, tmp_path / "lake")
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
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
from streaming.lake.progress import Progress
from bench.records import make_records
from tests.streaming.story import Story
from zklake.events.envelope import encode

story = Story()
for op, version, data in (
    ("create", 0, '{"version":1,"wheels":4}'),
    ("set", 1, '{"version":1,"wheels":3}'),
    ("set", 2, "three wheels, I think"),
):
    stat = story.stat(10, version, 10 + version)
    story.add(op=op, path="/toys/lorry", kind="toy", data=data, stat=stat)
lake = Lake(sys.argv[1], "c")
lake.create_tables()
fold = Fold(lake, Progress(), "zklake.c")
fold.fold_batch(make_records([encode(event) for event in story.events]))
sql = "SELECT toy, wheels, is_open, ended_by, decode_error FROM toys ORDER BY valid_from_seq"
print([tuple(row.values()) for row in read_rows(sys.argv[1], "c", sql)])
"""


def test_the_stream_folds_it_and_anyone_reads_it(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    follow_recipes(copy)
    ran = run(FOLD, copy, tmp_path / "lake")
    assert ran.returncode == 0, ran.stderr
    assert eval(ran.stdout) == [
        ("lorry", 4, False, "changed", None),
        ("lorry", 3, False, "unreadable", None),
        ("lorry", None, True, None, "malformed"),
    ]
