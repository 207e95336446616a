"""The recipes of CONTRIBUTING.md for a view, a page, a command and an alert rule, followed.

In a copy of the product each toy gets its file and its lines in the registries, as the recipe says,
and nothing else is touched. Kinds and tables: tests/delta_tables/test_recipe.py.
"""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

from tests.delta_tables.small_lake import write_lake
from tests.recipes.copying import copy_product, insert, run

HERE = Path(__file__).parent
AT = "2026-11-16T03:00:00Z"


def write_racks(lake: Path) -> str:
    """Three brokers that are registered, in two racks and in none."""
    rows = [
        {"broker_id": number, "rack": rack, "valid_from_seq": number, "valid_from_at": AT}
        for number, rack in ((1, "az-a"), (2, "az-a"), (3, None))
    ]
    write_lake(str(lake), "c", {"broker_membership": rows})
    return str(lake)


ASK_VIEW = """
import json, sys
from delta_tables.asking.lakes import Lake
from delta_tables.docs import describe
from delta_tables.reading import read_rows
from tests.delta_tables import test_views
from zklake.cli.describe import describe_name

(view,) = [view for view in test_views.VIEWS if view.name == "racks"]
test_views.test_a_view_reads_what_it_says_and_nothing_that_a_question_may_not(view)
print(json.dumps({
    "rows": read_rows(sys.argv[1], "c", "SELECT * FROM racks ORDER BY rack"),
    "described": describe_name("racks")["says"],
    "tables.md": describe(),
}))
"""


def test_a_file_and_a_line_make_a_view(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy_product(copy, "zklake", "delta_tables")
    views = copy / "delta_tables" / "views"
    shutil.copy(HERE / "toy_view.sql", views / "racks.sql")
    insert(views / "__init__.py", '            "partition_health",\n', before='"racks",\n')
    found = json.loads(run(copy, "-c", ASK_VIEW, write_racks(tmp_path / "lake")))
    assert found["rows"] == [
        {"cluster": "c", "rack": "az-a", "brokers": 2},
        {"cluster": "c", "rack": None, "brokers": 1},
    ]
    assert found["described"] == "How many brokers are registered in each rack?"
    assert "## racks" in found["tables.md"]


ASK_PAGE = """
import json, sys
from dashboard.openapi.docs import describe
from dashboard.options import Options
from tests.dashboard.conftest import open_client
from tests.dashboard.test_openapi import find_faults

client = open_client(Options(sys.argv[1], "c"))
answer = client.get("/api/racks").json()
print(json.dumps({
    "html": client.get("/racks").text,
    "menu": client.get("/topics").text,
    "answer": answer,
    "faults": find_faults("/api/racks", answer),
    "api.md": describe(),
}))
"""


def test_a_file_a_template_and_a_line_make_a_page(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy_product(copy, "zklake", "delta_tables", "dashboard")
    shutil.copy(HERE / "toy_page.py", copy / "dashboard" / "pages" / "racks.py")
    shutil.copy(HERE / "toy_page.html", copy / "dashboard" / "templates" / "racks.html")
    registry = copy / "dashboard" / "pages" / "__init__.py"
    insert(registry, "    rebalances,\n", before="    racks,\n")
    insert(registry, "    rebalances.PAGE,\n", before="    racks.PAGE,\n")
    found = json.loads(run(copy, "-c", ASK_PAGE, write_racks(tmp_path / "lake")))
    assert '<td class="name">az-a</td><td>2</td>' in found["html"]
    assert '<a href="/racks' in found["menu"]
    assert found["answer"]["racks"] == [
        {"rack": "az-a", "brokers": 2},
        {"rack": None, "brokers": 1},
    ]
    assert found["faults"] == []
    assert "## GET /api/racks" in found["api.md"]
    assert "| `racks[].brokers` | whole number | brokers that are registered |" in found["api.md"]


def test_a_file_and_two_lines_make_a_command(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy_product(copy, "zklake")
    shutil.copy(HERE / "toy_command.py", copy / "zklake" / "cli" / "racks.py")
    main = copy / "zklake" / "cli" / "main.py"
    insert(main, "    rebuild,\n", before="    racks,\n")
    line = 'app.command("rebuild")(rebuild.rebuild)\n'
    insert(main, line, before='app.command("racks")(racks.racks)\n')
    insert(copy / "zklake" / "cli" / "extras.py", '    "rebuild":', before='    "racks": "sql",\n')
    lake = write_racks(tmp_path / "lake")
    listed = run(copy, "-m", "zklake", "--help")
    assert "List racks, and how many brokers are registered in each." in " ".join(listed.split())
    printed = run(copy, "-m", "zklake", "racks", "--lake", lake, "--cluster", "c", "--json")
    assert {row["rack"]: row["brokers"] for row in json.loads(printed)} == {"az-a": 2, None: 1}


ASK_RULE = """
import json, sys
from datetime import datetime, timedelta
from alerts.evaluation import backtest
from tests.alerts.book import CLUSTER, Book
from zklake.settings.load import load_settings

now = datetime.fromisoformat(sys.argv[2])
book = Book(sys.argv[1], now)
rows = [
    book.row(book.minute(-50), book.minute(-20), broker_id=3, rack=None),
    book.row(book.minute(-50), broker_id=4, rack="az-a"),
    book.row(book.minute(-50), broker_id=1, rack=None),
]
book.tell(now, broker_membership=rows)
environ = {"ZKLAKE_ALERTS__RULES": '[{"rule": "rackless_broker", "least_id": 2}]'}
(rule,) = load_settings(environ=environ).alerts.list_rules()
evaluation, found = backtest(book.path, CLUSTER, rule, now - timedelta(days=1), now)
print(json.dumps({
    "default": [rule.title for rule in load_settings(environ={}).alerts.list_rules()],
    "incidents": [one.describe() for one in found],
}))
"""


def test_settings_a_file_and_two_lines_make_an_alert_rule(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy_product(copy, "zklake", "alerts")
    settings = copy / "zklake" / "settings" / "alert_rules.py"
    _, _, made = (HERE / "toy_rule_settings.py").read_text().partition("\n\n\nclass ")
    insert(settings, "RULES: tuple[type[Rule], ...] = (\n", before=f"class {made}\n\n")
    insert(settings, "    BrokerFlap,\n)", before="    RacklessBroker,\n")
    rules = copy / "alerts" / "rules"
    text = (HERE / "toy_rule.py").read_text()
    text = text.replace("tests.recipes.toy_rule_settings", "zklake.settings.alert_rules")
    (rules / "rackless_broker.py").write_text(text)
    insert(rules / "__init__.py", "    rebalance_storm,\n", before="    rackless_broker,\n")
    line = "    pipeline_stale.KIND,\n"
    insert(rules / "__init__.py", line, before="    rackless_broker.KIND,\n")
    now = datetime(2026, 11, 16, 12, tzinfo=UTC)
    found = json.loads(run(copy, "-c", ASK_RULE, str(tmp_path / "lake"), now.isoformat()))
    assert "rackless_broker" in found["default"]
    (incident,) = found["incidents"]
    assert (incident["rule"], incident["subject_text"]) == ("rackless_broker", "broker 3")
    assert incident["duration_s"] == 30 * 60
