"""Brokers, controller, partitions, groups and owners as they were at one moment."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from dashboard.lives import list_lives
from dashboard.moment.wanted import MomentSearch, write_wanted
from dashboard.openapi.rows import describe_rows
from dashboard.openapi.shapes import Instant, Maybe, Named, choose, say
from delta_tables.asking.moments import write_held
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.live.tables import Row, Tables
from delta_tables.reading import quote
from delta_tables.statuses import ORDER, name_severity, write_severity

# Tables of which what stood then is shown beside what stands now.
_COMPARED = ("partition_state", "topics", "ownership_history")
MOST_PARTITIONS, MOST_GROUPS, MOST_OWNERS = 600, 60, 200

_CONTROLLER = """
SELECT controller_id, controller_epoch, valid_from_at AS since,
  coalesce(kraft_controller_epoch > 0, false) AS is_kraft
FROM controller
WHERE {held}
ORDER BY valid_from_at DESC
LIMIT 1
"""
_LOADS = """
SELECT broker_id, count(*) FILTER (WHERE leader = broker_id) AS leads, count(*) AS in_sync
FROM (SELECT leader, unnest(isr) AS broker_id FROM partition_state WHERE {held})
GROUP BY broker_id
"""
# The worst first: of a large cluster not all can be seen at once.
_PARTITIONS = """
SELECT *, count(*) OVER () AS total, sum(no_leader) OVER () AS leaderless,
  sum(missing) OVER () AS short
FROM (
  SELECT state.topic, state.partition, state.leader, state.isr, assigned.replicas,
    state.leader_epoch, state.valid_from_at AS since, state.is_open AS is_unchanged,
    CASE WHEN {offline} THEN 1 ELSE 0 END AS no_leader,
    CASE WHEN array_length(state.isr) < array_length(assigned.replicas) THEN 1 ELSE 0 END
      AS missing
  FROM (SELECT * FROM partition_state WHERE {held}{wanted}) AS state
  LEFT JOIN (
    SELECT topic, unnest(map_keys(replicas)) AS partition, unnest(map_values(replicas)) AS replicas
    FROM topics
    WHERE broker_id IS NULL AND {held}
  ) AS assigned
    ON assigned.topic = state.topic AND assigned.partition = state.partition
)
ORDER BY no_leader DESC, missing DESC, topic, partition
LIMIT {most}
"""
_GROUPS = f"""
SELECT *, count(*) OVER () AS total
FROM (
  SELECT coordinator, group_id, count(*) AS partitions, sum(lag) AS lag,
    max(lag_seconds) AS lag_seconds, max({write_severity("status")}) AS severity
  FROM offset_lag
  WHERE {{held}}{{wanted}}
  GROUP BY coordinator, group_id
)
ORDER BY severity DESC NULLS LAST, lag DESC NULLS LAST, group_id
LIMIT {{most}}
"""  # noqa: S608
_LAG_NOW = """
SELECT coordinator, group_id, sum(lag) AS lag
FROM lag_now
WHERE group_id IN ({groups}){wanted}
GROUP BY coordinator, group_id
"""
_MEMBERS = """
SELECT coordinator, group_id, count(*) AS members
FROM consumer_membership
WHERE {held} AND group_id IN ({groups})
GROUP BY coordinator, group_id
"""
_OWNERS = """
SELECT own.coordinator, own.group_id, own.topic, own.partition, own.owner, own.owner_member_id,
  own.valid_from_at AS since, lags.lag, lags.lag_seconds, lags.status,
  present.owner AS owner_now, count(*) OVER () AS total
FROM (SELECT * FROM ownership_history WHERE {held}{wanted}) AS own
LEFT JOIN ({lags}) AS lags
  ON lags.coordinator = own.coordinator AND lags.group_id = own.group_id
  AND lags.topic = own.topic AND lags.partition = own.partition
LEFT JOIN (
  SELECT coordinator, group_id, topic, partition, owner FROM ownership_history WHERE is_open
) AS present
  ON present.coordinator = own.coordinator AND present.group_id = own.group_id
  AND present.topic = own.topic AND present.partition = own.partition
ORDER BY own.group_id, own.coordinator, own.topic, own.partition
LIMIT {most}
"""
_LAGS = (
    "SELECT coordinator, group_id, topic, partition, lag, lag_seconds, status "
    "FROM offset_lag WHERE {held}"
)
# Nobody samples log ends: who owned what is still known.
_NO_LAGS = (
    "SELECT '' AS coordinator, '' AS group_id, '' AS topic, 0 AS partition, 0 AS lag, "
    "0.0 AS lag_seconds, '' AS status WHERE false"
)
_STATUS = choose(*ORDER) | None
_WORD = {"offline": "offline", "short": "under-replicated", "ok": "ok"}

SNAPSHOT = Named(
    "Snapshot",
    {
        "brokers": [
            {
                "broker_id": int,
                "is_up": bool,
                "is_up_now": bool,
                "is_controller": bool,
                "since": say(Instant, "since when it was up or down then"),
                "host": say(str | None, "its first endpoint"),
                "rack": str | None,
                "leads": say(int, "partitions that it led then"),
                "in_sync": say(int, "partitions that had it in their ISR then"),
            }
        ],
        "controller": Maybe(describe_rows(_CONTROLLER, is_kraft=bool)),
        "partitions": [
            {
                "topic": str,
                "partition": int,
                "leader": int | None,
                "isr": list[int] | None,
                "replicas": list[int] | None,
                "leader_epoch": int | None,
                "since": Instant | None,
                "state": choose(*_WORD.values()),
                "is_unchanged": say(bool, "whether this state still holds now"),
            }
        ],
        "partitions_total": int,
        "offline": int,
        "under_replicated": int,
        "groups": [
            {
                "coordinator": choose("zookeeper", "kafka"),
                "group_id": str,
                "partitions": int,
                "members": int,
                "lag": int | None,
                "lag_seconds": float | None,
                "status": _STATUS,
                "lag_now": int | None,
            }
        ],
        "groups_total": int,
        "owners": [
            {
                "coordinator": choose("zookeeper", "kafka"),
                "group_id": str,
                "topic": str,
                "partition": int,
                "owner": str | None,
                "owner_member_id": str | None,
                "since": Instant | None,
                "lag": int | None,
                "lag_seconds": float | None,
                "status": _STATUS,
                "owner_now": str | None,
            }
        ],
        "owners_total": int,
    },
)


class MomentState(NamedTuple):
    """Which lake, when, and what somebody looks for."""

    tables: Tables
    at: datetime
    wanted: MomentSearch

    def ask(self, sql: str, *names: str, about: str = "", **values: object) -> list[Row]:
        """Rows of a query that held then; `about` is the table that the search is applied to."""
        condition = write_wanted(self.wanted, TABLE_BY_NAME[about]) if about else ""
        wanted = f" AND ({condition})" if condition else ""
        text = sql.format(held=write_held(self.at), wanted=wanted, **values)
        return self.tables.query(text, *names)


def narrow(tables: Tables, at: datetime) -> Tables:
    """With the rows alone that held then or hold now: several queries ask for them."""
    return tables.narrow(dict.fromkeys(_COMPARED, f"is_open OR ({write_held(at)})"))


def load_snapshot(moment: MomentState) -> Row:
    """All of it; of partitions, groups and owners the first, and how many there were."""
    controller = next(iter(moment.ask(_CONTROLLER, "controller")), None)
    brokers = _list_brokers(moment, controller)
    partitions = moment.ask(
        _PARTITIONS,
        "partition_state",
        "topics",
        about="partition_state",
        most=MOST_PARTITIONS,
        offline=_write_offline(brokers, controller),
    )
    groups, owners = _list_groups(moment), _list_owners(moment)
    return {
        "brokers": brokers,
        "controller": controller,
        "partitions": _pick("partitions", [_judge(row) for row in partitions]),
        "partitions_total": _total(partitions),
        "offline": partitions[0]["leaderless"] if partitions else 0,
        "under_replicated": partitions[0]["short"] if partitions else 0,
        "groups": _pick("groups", groups),
        "groups_total": _total(groups),
        "owners": _pick("owners", owners),
        "owners_total": _total(owners),
    }


def _pick(part: str, rows: list[Row]) -> list[Row]:
    names = SNAPSHOT.shape[part][0]
    return [{name: row[name] for name in names} for row in rows]


def _total(rows: list[Row]) -> int:
    return rows[0]["total"] if rows else 0


def _list_brokers(moment: MomentState, controller: Row | None) -> list[Row]:
    loads = {row["broker_id"]: row for row in moment.ask(_LOADS, "partition_state")}
    last: dict[int, Row] = {}
    now: dict[int, bool] = {}
    for life in list_lives(moment.tables):
        now[life["broker_id"]] = life["left_at"] is None
        if life["came_at"] <= moment.at:
            last[life["broker_id"]] = life
    found = []
    for broker, life in sorted(last.items()):
        left = life["left_at"]
        is_up = left is None or left > moment.at
        load = loads.get(broker, {})
        found.append(
            {
                "broker_id": broker,
                "is_up": is_up,
                "is_up_now": now[broker],
                "is_controller": controller is not None and controller["controller_id"] == broker,
                "since": life["came_at"] if is_up else left,
                "host": next(iter(life["endpoints"] or ()), None),
                "rack": life["rack"],
                "leads": load.get("leads", 0),
                "in_sync": load.get("in_sync", 0),
            }
        )
    return found


def _write_offline(brokers: list[Row], controller: Row | None) -> str:
    """SQL: no leader, or one that was not registered."""
    up = ", ".join(str(row["broker_id"]) for row in brokers if row["is_up"]) or "-1"
    # While a cluster migrates to KRaft, brokers leave ZooKeeper and serve on: then only -1 counts.
    is_kraft = controller is not None and controller["is_kraft"]
    return "state.leader = -1" if is_kraft else f"state.leader = -1 OR state.leader NOT IN ({up})"


def _judge(row: Row) -> Row:
    word = "offline" if row["no_leader"] else "short" if row["missing"] else "ok"
    return {**row, "state": _WORD[word]}


def _list_groups(moment: MomentState) -> list[Row]:
    groups = moment.ask(_GROUPS, "offset_lag", about="offset_lag", most=MOST_GROUPS)
    names = ", ".join(quote(row["group_id"]) for row in groups) or "''"
    members = moment.ask(_MEMBERS, "consumer_membership", groups=names)
    now = moment.ask(_LAG_NOW, "lag_now", about="offset_lag", groups=names)
    counted = {(row["coordinator"], row["group_id"]): row["members"] for row in members}
    lags = {(row["coordinator"], row["group_id"]): row["lag"] for row in now}
    return [
        {
            **row,
            "status": name_severity(row["severity"]),
            "members": counted.get((row["coordinator"], row["group_id"]), 0),
            "lag_now": lags.get((row["coordinator"], row["group_id"])),
        }
        for row in groups
    ]


def _list_owners(moment: MomentState) -> list[Row]:
    has_lag = moment.tables.has("offset_lag")
    return moment.ask(
        _OWNERS,
        "ownership_history",
        *(("offset_lag",) if has_lag else ()),
        about="ownership_history",
        most=MOST_OWNERS,
        lags=(_LAGS if has_lag else _NO_LAGS).format(held=write_held(moment.at)),
    )
