"""`python -m deploy.grafana.writing`: the boards as Grafana's JSON, into dashboards/.

It knows Grafana's format, and no metric. No id of an installation is written: the Prometheus of
every panel is chosen in the dashboard.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from deploy.grafana.boards import BOARDS
from deploy.grafana.panels import Board, Panel, Section, Variable

Json = dict[str, Any]

DIRECTORY = Path(__file__).parent / "dashboards"
_DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
_COLUMNS = 24
_LEGEND = {
    "displayMode": "table",
    "placement": "bottom",
    "showLegend": True,
    "calcs": ["lastNotNull", "max"],
}
_OPTIONS: dict[str, Json] = {
    "timeseries": {"legend": _LEGEND, "tooltip": {"mode": "multi", "sort": "desc"}},
    "stat": {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "colorMode": "value",
        "graphMode": "none",
        "textMode": "auto",
    },
    "table": {"showHeader": True, "sortBy": [{"displayName": "Value", "desc": True}]},
    "state-timeline": {"mergeValues": True, "showValue": "auto", "rowHeight": 0.8},
}
_HIDDEN = ("Time", "__name__", "job", "instance")
_TIDY = [{"id": "organize", "options": {"excludeByName": dict.fromkeys(_HIDDEN, True)}}]


def format_board(board: Board) -> str:
    """The text of a dashboard's file."""
    return json.dumps(write_board(board), indent=1) + "\n"


def write_board(board: Board) -> Json:
    """The dashboard, as Grafana imports and provisions it."""
    links = [{"type": "dashboards", "title": "zklake", "tags": ["zklake"], "asDropdown": True}]
    return {
        "id": None,
        "uid": f"zklake-{board.name}",
        "title": board.title,
        "description": board.says,
        "tags": ["zklake", "kafka"],
        "schemaVersion": 39,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "utc",
        "links": links,
        "templating": {"list": [_write_source(), *map(_write_variable, board.variables)]},
        "panels": list(_place(board.sections)),
    }


def _write_source() -> Json:
    return {
        "name": "datasource",
        "label": "Prometheus",
        "type": "datasource",
        "query": "prometheus",
    }


def _write_variable(variable: Variable) -> Json:
    return {
        "name": variable.name,
        "label": variable.name,
        "type": "query",
        "datasource": _DATASOURCE,
        "query": {"query": variable.query, "refId": variable.name},
        "definition": variable.query,
        "refresh": 2,
        "sort": 1,
        "multi": variable.is_multiple,
        "includeAll": variable.is_multiple,
        **({"allValue": ".*"} if variable.is_multiple else {}),
    }


def _place(sections: Sequence[Section]) -> Iterator[Json]:
    """Panels from left to right; one that does not fit begins a new line."""
    number, y = 1, 0
    for section in sections:
        yield _write_heading(section.title, number, y)
        number, y, x, tallest = number + 1, y + 1, 0, 0
        for panel in section.panels:
            if x + panel.width > _COLUMNS:
                x, y, tallest = 0, y + tallest, 0
            yield _write_panel(panel, number, x, y)
            number, x, tallest = number + 1, x + panel.width, max(tallest, panel.height)
        y += tallest


def _write_heading(title: str, number: int, y: int) -> Json:
    place = {"x": 0, "y": y, "w": _COLUMNS, "h": 1}
    return {"id": number, "type": "row", "title": title, "gridPos": place, "panels": []}


def _write_panel(panel: Panel, number: int, x: int, y: int) -> Json:
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.says,
        "datasource": _DATASOURCE,
        "gridPos": {"x": x, "y": y, "w": panel.width, "h": panel.height},
        "targets": [_write_target(panel, place) for place in range(len(panel.queries))],
        "fieldConfig": {"defaults": _write_field(panel), "overrides": []},
        "options": _OPTIONS[panel.kind],
        "transformations": _TIDY if panel.kind == "table" else [],
    }


def _write_target(panel: Panel, place: int) -> Json:
    query, is_now = panel.queries[place], panel.kind in ("stat", "table")
    return {
        "refId": chr(ord("A") + place),
        "datasource": _DATASOURCE,
        "expr": query.expr,
        "legendFormat": query.legend or "__auto",
        "range": not is_now,
        "instant": is_now,
        "format": "table" if panel.kind == "table" else "time_series",
    }


def _write_field(panel: Panel) -> Json:
    steps = [{"value": value, "color": color} for value, color in ((None, "green"), *panel.limits)]
    words = {
        str(number): {"text": word.text, "color": word.color, "index": number}
        for number, word in enumerate(panel.words)
    }
    return {
        "unit": panel.unit,
        "mappings": [{"type": "value", "options": words}] if words else [],
        "thresholds": {"mode": "absolute", "steps": steps},
        "color": {"mode": "palette-classic" if panel.kind == "timeseries" else "thresholds"},
    }


def write_files(directory: Path = DIRECTORY) -> None:
    """Write every dashboard."""
    for board in BOARDS:
        (directory / f"{board.name}.json").write_text(format_board(board))


if __name__ == "__main__":
    write_files()
