"""The rules ask only for what is there, each has its runbook, and promtool accepts all of it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from delta_tables.asking.querying import check_query
from delta_tables.reading import find_views, open_tables, query_rows
from delta_tables.statuses import ORDER
from tests.dashboard.story_lake import CLUSTER
from tests.deploy.exported import DEPLOY, list_exported
from tests.deploy.promql import WrongQuery, find_labels
from tests.deploy.test_commands import find_invocations
from tests.test_docs import anchors, find_code

ROOT = DEPLOY.parent
PROMETHEUS = DEPLOY / "prometheus"
RUNBOOKS = ROOT / "docs" / "runbooks.md"
EXPORTED = list_exported()
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((PROMETHEUS / "rules.yaml").read_text())["groups"]
    for rule in group["rules"]
]
PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(
    PROMTOOL is None,
    reason="NOT CHECKED: promtool is not installed (Debian: apt-get install prometheus)",
)


def check_rule(rule: dict[str, Any]) -> None:
    """The query names what is there, and so do the texts."""
    labels = find_labels(rule["expr"], EXPORTED)
    named = set(re.findall(r"\$labels\.(\w+)", " ".join(rule["annotations"].values())))
    if named - labels:
        raise WrongQuery(f"{rule['alert']}: no series has {named - labels}")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_every_metric_and_label_exists(rule: dict[str, Any]) -> None:
    check_rule(rule)


def test_a_text_that_no_series_fills_is_found_out() -> None:
    texts = {"summary": "{{ $labels.topic }}"}
    with pytest.raises(WrongQuery, match=r"no series has \{'topic'\}"):
        check_rule({"alert": "Wrong", "expr": "zklake_group_lag > 1", "annotations": texts})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_every_rule_says_what_it_means_and_what_to_do(rule: dict[str, Any]) -> None:
    assert rule["annotations"].keys() == {"summary", "description", "runbook_url"}
    assert rule["labels"]["severity"] in ("info", "warning", "critical")
    file, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    assert ROOT / file == RUNBOOKS
    assert anchor == rule["alert"].lower()
    assert anchor in anchors(RUNBOOKS)


def test_every_runbook_is_of_a_rule() -> None:
    heads = re.findall(r"^## (.*)$", RUNBOOKS.read_text(), re.MULTILINE)
    assert heads == [rule["alert"] for rule in RULES]


@pytest.mark.parametrize(
    ("alert", "status"),
    [
        ("ZklakeGroupStopped", "STOPPED"),
        ("ZklakeGroupStalled", "STALLED"),
        ("ZklakeGroupUnowned", "UNOWNED"),
        ("ZklakeGroupRewound", "REWIND"),
        ("ZklakeGroupFallsBehind", "WARN"),
    ],
)
def test_the_numbers_of_statuses_are_those_that_are_exported(alert: str, status: str) -> None:
    (rule,) = [rule for rule in RULES if rule["alert"] == alert]
    assert rule["expr"] == f"zklake_group_status == {ORDER.index(status)}"
    assert f"{ORDER.index(status)} {status}" in (PROMETHEUS / "rules.yaml").read_text()


def test_the_questions_of_the_runbooks_can_be_asked(lake: str) -> None:
    tables = open_tables(lake, CLUSTER)
    names = {*tables, *(view.name for view in find_views(tables))}
    shown = [argv for line in find_code(RUNBOOKS.read_text()) for argv in find_invocations(line)]
    queries = [argv[1] for argv in shown if argv[0] == "sql" and len(argv) > 1]
    assert len(queries) > 15
    for query in queries:
        query_rows(tables, check_query(query, names).sql)
    assert set(re.findall(r"< (\S+\.sql)", RUNBOOKS.read_text())) <= {
        str(path.relative_to(ROOT)) for path in (ROOT / "examples" / "queries").glob("*.sql")
    }


def run_promtool(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    assert PROMTOOL is not None
    return subprocess.run([PROMTOOL, *words], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """As they lie beside a Prometheus: with the token, and with what must come of the rules."""
    for path in (*PROMETHEUS.glob("*.yaml"), Path(__file__).with_name("rules_fire.yaml")):
        shutil.copy(path, tmp_path)
    (tmp_path / "dashboard_token").write_text("0123456789abcdef\n")
    return tmp_path


@needs_promtool
def test_promtool_accepts_the_configuration_and_the_rules(files: Path) -> None:
    done = run_promtool("check", "config", "prometheus.yaml", cwd=files)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(RULES)} rules found" in done.stdout + done.stderr


@needs_promtool
def test_the_rules_fire_when_they_should_and_only_then(files: Path) -> None:
    done = run_promtool("test", "rules", "rules_fire.yaml", cwd=files)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_rule_is_tried() -> None:
    calm, trouble = yaml.safe_load(Path(__file__).with_name("rules_fire.yaml").read_text())["tests"]
    assert calm["promql_expr_test"][0]["exp_samples"] == []
    fired = [one["labels"] for one in trouble["promql_expr_test"][0]["exp_samples"]]
    assert fired == [f'{{alertname="{rule["alert"]}"}}' for rule in RULES]
    for test in (calm, trouble):
        for one in test["input_series"]:
            find_labels(one["series"], EXPORTED)
