"""Search: what a text names anywhere in the history, and the page that shows it."""

from __future__ import annotations

from dashboard.finding import find_matches, find_target
from dashboard.openapi.params import Param
from dashboard.openapi.shapes import choose, say
from dashboard.page import Asked, Data, Page


def load(asked: Asked) -> Data:
    """Everything that the text names, the closest first."""
    text = asked.params.get("q", "")
    matches = find_matches(asked.tables, text)
    rows = [
        {
            "kind": one.kind,
            "name": one.name,
            "href": asked.link(one.page, **one.params),
            "group_id": one.params.get("group_id") if one.kind == "member" else None,
        }
        for one in matches
    ]
    target = find_target(matches, text)
    found = None if target is None else rows[matches.index(target)]
    return {"q": text, "matches": rows, "target": None if found is None else found["href"]}


def forward(asked: Asked, data: Data) -> str | None:
    """Where only one thing can be meant, that is what is shown."""
    address: str | None = data["target"]
    return address


PAGE = Page(
    "search",
    "Search",
    load,
    forward=forward,
    in_menu=False,
    params=(
        Param(
            "q",
            str,
            "A partition (`orders-3`), a broker (`broker 2`), or a part of the name of a group, a "
            "topic or a member.",
            ("orders-3",),
        ),
    ),
    answer={
        "q": str,
        "matches": [
            {
                "kind": choose("partition", "broker", "group", "topic", "member"),
                "name": str,
                "href": say(str, "the page that shows it"),
                "group_id": say(str | None, "the group that a member belongs to"),
            }
        ],
        "target": say(str | None, "the page that is meant, if it can be only one"),
    },
)
