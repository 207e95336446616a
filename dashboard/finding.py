"""Finds what a text names, in all the history: partitions, brokers, groups, topics, members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from dashboard.moment.wanted import read_wanted
from delta_tables.live.tables import Tables
from delta_tables.reading import quote
from zklake.errors import QueryError

MOST = 30
# Beyond so many names nobody waits for the closest one.
_COMPARED = 3000
_SHOWN_CHARACTERS = 200
_TOPICS = """
SELECT DISTINCT topic AS name FROM topics
WHERE strpos(lower(topic), lower({text})) > 0
ORDER BY length(topic), topic LIMIT {most}
"""
_GROUPS = """
SELECT DISTINCT group_id AS name FROM {table}
WHERE strpos(lower(group_id), lower({text})) > 0
ORDER BY length(group_id), group_id LIMIT {most}
"""
_MEMBERS = """
SELECT DISTINCT member_id AS name, group_id, coordinator FROM consumer_membership
WHERE strpos(lower(member_id), lower({text})) > 0
ORDER BY length(member_id), member_id LIMIT {most}
"""
# In which tables a name stands that was ever seen, the likeliest first.
_SEEN = {
    "group": (
        "group_id",
        (
            "consumer_membership",
            "consumer_offsets",
            "offset_lag",
            "ownership_history",
            "rebalances",
            "lag_rollups",
        ),
    ),
    "topic": ("topic", ("topics", "partition_state", "log_ends", "offset_lag")),
    "broker": ("broker_id", ("broker_membership",)),
}
_PAGES = {"group": "group", "topic": "topic", "broker": "broker"}


class Match(NamedTuple):
    """Something that a text names, and the page that shows it."""

    kind: str
    name: str
    page: str
    params: dict[str, str]


class UnknownName(QueryError):
    """A page was asked for something that was never seen; with what may have been meant."""

    def __init__(self, text: str, matches: Sequence[Match]) -> None:
        super().__init__(text)
        self.matches = tuple(matches)


def find_matches(tables: Tables, text: str) -> list[Match]:
    """What the text names, the closest first."""
    text = text.strip()
    if not text:
        return []
    wanted = read_wanted(tables, text)
    found: list[Match] = []
    if wanted.topic is not None:
        found.append(Match("partition", text, "at", {"q": text}))
    if wanted.broker_id is not None:
        found.append(_match("broker", str(wanted.broker_id)))
    found += [_match("group", name) for name in _list_groups(tables, text)]
    sql = _TOPICS.format(text=quote(text), most=MOST)
    found += [_match("topic", row["name"]) for row in tables.query(sql, "topics")]
    sql = _MEMBERS.format(text=quote(text), most=MOST)
    for row in tables.query(sql, "consumer_membership"):
        params = {"group_id": row["group_id"], "coordinator": row["coordinator"]}
        found.append(Match("member", row["name"], "group", params))
    return sorted(found, key=lambda one: not is_exact(one, text))[:MOST]


def _list_groups(tables: Tables, text: str) -> list[str]:
    names: dict[str, None] = {}
    for table in ("consumer_offsets", "consumer_membership"):
        sql = _GROUPS.format(table=table, text=quote(text), most=MOST)
        names.update(dict.fromkeys(row["name"] for row in tables.query(sql, table)))
    if not names:
        sql = _GROUPS.format(table="offset_lag", text=quote(text), most=MOST)
        names.update(dict.fromkeys(row["name"] for row in tables.query(sql, "offset_lag")))
    return list(names)


def is_exact(match: Match, text: str) -> bool:
    """Whether the text is its whole name; a partition and a broker are named in full or not."""
    is_named = match.kind in ("partition", "broker")
    return is_named or match.name.lower() == text.strip().lower()


def find_target(matches: Sequence[Match], text: str) -> Match | None:
    """The one that is meant, if it can be only one."""
    exact = [one for one in matches if is_exact(one, text)]
    only = exact or matches
    return only[0] if len(only) == 1 else None


def check_seen(tables: Tables, kind: str, name: str) -> None:
    """UnknownName where no table has ever heard of it; a lake without data knows of nothing."""
    column, places = _SEEN[kind]
    value = name if kind == "broker" else quote(name)
    for table in places:
        sql = f"SELECT 1 AS seen FROM {table} WHERE {column} = {value} LIMIT 1"  # noqa: S608
        if tables.query(sql, table):
            return
    if tables.has("znode_events"):
        shown = name if len(name) <= _SHOWN_CHARACTERS else f"{name[:_SHOWN_CHARACTERS]}…"
        matches = [*_suggest(tables, kind, name), *find_matches(tables, name)]
        raise UnknownName(f"No {kind} {shown!r} was ever seen.", list(_unique(matches))[:8])


def _suggest(tables: Tables, kind: str, name: str) -> list[Match]:
    """Names that are written almost like that."""
    column, places = _SEEN[kind]
    table = places[0]
    sql = (
        f"SELECT DISTINCT CAST({column} AS STRING) AS name FROM {table} "  # noqa: S608
        f"WHERE {column} IS NOT NULL ORDER BY name LIMIT {_COMPARED}"
    )
    known = [row["name"] for row in tables.query(sql, table)]
    if kind == "broker":
        return [_match(kind, one) for one in known[:8]]
    close = get_close_matches(name[:_SHOWN_CHARACTERS], known, n=5, cutoff=0.5)
    return [_match(kind, one) for one in close]


def _match(kind: str, name: str) -> Match:
    return Match(kind, name, _PAGES[kind], {_SEEN[kind][0]: name})


def _unique(matches: Iterable[Match]) -> Iterable[Match]:
    seen = set()
    for one in matches:
        if (one.kind, one.name) not in seen:
            seen.add((one.kind, one.name))
            yield one
