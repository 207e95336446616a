"""The dashboards ask only for what is there, and Grafana can show them anywhere."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest
import yaml

from deploy.grafana.boards import BOARDS
from deploy.grafana.panels import Board
from deploy.grafana.writing import DIRECTORY, format_board
from tests.deploy.exported import DEPLOY, list_exported
from tests.deploy.promql import WrongQuery, find_labels

EXPORTED = list_exported()
FILES = sorted(DIRECTORY.glob("*.json"))
Json = dict[str, Any]


def load(name: str) -> Json:
    return json.loads((DIRECTORY / f"{name}.json").read_text())  # type: ignore[no-any-return]


def list_panels(board: Json) -> list[Json]:
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def check_target(target: Json) -> None:
    """The query names what is there, and so does its legend."""
    labels = find_labels(target["expr"], EXPORTED)
    legend = set(re.findall(r"{{\s*(\w+)\s*}}", target["legendFormat"]))
    if legend - labels:
        raise WrongQuery(f"{target['expr']}: the legend wants {legend - labels}")


def test_there_is_a_file_for_each_board_and_no_other() -> None:
    assert [file.stem for file in FILES] == sorted(board.name for board in BOARDS)
    assert {"lag", "rebalances", "cluster", "pipeline"} <= {file.stem for file in FILES}


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_the_files_are_what_the_boards_say(board: Board) -> None:
    written = (DIRECTORY / f"{board.name}.json").read_text()
    assert written == format_board(board), "run python -m deploy.grafana.writing"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_metric_and_label_exists(file: Any) -> None:
    targets = [target for panel in list_panels(load(file.stem)) for target in panel["targets"]]
    assert targets
    for target in targets:
        check_target(target)


def test_a_legend_that_no_series_fills_is_found_out() -> None:
    with pytest.raises(WrongQuery, match=r"legend wants \{'group'\}"):
        check_target({"expr": "zklake_group_lag", "legendFormat": "{{group}}"})


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_choices_above_a_board_exist(file: Any) -> None:
    board = load(file.stem)
    variables = {one["name"]: one for one in board["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource"
    for one in variables.values():
        if one["type"] == "query":
            match = re.fullmatch(r"label_values\((.+), (\w+)\)", one["query"]["query"])
            assert match
            assert match[2] in find_labels(match[1], EXPORTED)
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(board)))
    assert used == variables.keys()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_id_of_an_installation_is_written(file: Any) -> None:
    board = load(file.stem)
    assert board["id"] is None
    assert board["uid"] == f"zklake-{file.stem}"
    found = re.findall(r'"datasource": (\{[^}]*\}[^}]*\}|"[^"]*"|null)', json.dumps(board))
    assert set(found) == {'{"type": "prometheus", "uid": "${datasource}"}'}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_panels_have_ids_of_their_own_and_lie_side_by_side(file: Any) -> None:
    panels = load(file.stem)["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [panel["gridPos"] for panel in panels]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    for one, other in itertools.combinations(places, 2):
        is_beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        is_below = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert is_beside or is_below, (one, other)


def test_the_provisioning_is_whole() -> None:
    provisioning = DEPLOY / "grafana" / "provisioning"
    (source,) = yaml.safe_load((provisioning / "datasources/prometheus.yaml").read_text())[
        "datasources"
    ]
    assert (source["type"], source["url"]) == ("prometheus", "${PROMETHEUS_URL}")
    assert "uid" not in source
    (provider,) = yaml.safe_load((provisioning / "dashboards/zklake.yaml").read_text())["providers"]
    assert provider["type"] == "file"
    assert provider["options"]["path"] in (DEPLOY.parent / "docs" / "deploying.md").read_text()
