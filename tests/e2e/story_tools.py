"""People's tools over the lake of the stories: /metrics under every name, and Burrow's answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from starlette.testclient import TestClient

from dashboard.dialects.burrow.evaluation import STATUS_CODES
from dashboard.metrics.sets import SET_BY_NAME
from tests.dashboard.dialects.burrow.shapes import STATUS, WINDOW, check_body
from tests.dashboard.metrics.reading import OPENMETRICS, Scraped, scrape
from tests.dashboard.metrics.test_names import FACTS
from tests.e2e.lake_past import LakePast
from tests.e2e.live_truth import LiveTruth, Place
from tests.e2e.regulars import NEW, OLD
from tests.e2e.story_numbers import find_wrong_numbers

ALL = tuple(SET_BY_NAME)


def find_strange(past: LakePast) -> set[Place]:
    """Where a group's commit is of an earlier topic of that name: it has no lag."""
    rows = past.find("offset_lag", is_open=True, reason="other_incarnation")
    return {(row["group_id"], row["topic"], row["partition"]) for row in rows}


def check_metrics(lake: str, cluster: str, live: LiveTruth, strange: set[Place]) -> None:
    """Every name is there with its labels, and says what is so."""
    found = scrape_all(lake, cluster)
    assert list(find_wrong_fields(found)) == []
    assert list(find_wrong_numbers(found, live, strange)) == []
    idle = "kminion_kafka_consumer_group_empty_members"
    assert found.find(idle, group_id=OLD) == [1]
    mine = {one[1:]: at for one, at in live.merge().items() if one[0] == OLD}
    offset, status = (
        f"burrow_kafka_{one}" for one in ("consumer_current_offset", "topic_partition_status")
    )
    for (topic, partition), at in mine.items():
        place = {"consumer_group": OLD, "topic": topic, "partition": str(partition)}
        assert found.find(offset, **place) == [at]
        assert found.find(status, **place) == [STATUS_CODES["OK"]]
    info = "kminion_kafka_consumer_group_info"
    assert found.find(info, group_id=NEW, state="Stable") == [1]
    print(f"{found.count()} series of {len(found.names)} names; {len(strange)} commits are strange")
    # The checker does not nod at everything.
    ends = {log: end + 1 for log, end in live.ends.items()}
    members = {kept: count + 1 for kept, count in live.members.items()}
    for lie in (replace(live, ends=ends), replace(live, members=members, brokers={7: "a:1"})):
        assert list(find_wrong_numbers(found, lie, strange))


def scrape_all(lake: str, cluster: str) -> Scraped:
    """Every name there is; a Prometheus parser reads both forms, and they say the same."""
    chosen: dict[str, Any] = {"sets": ALL, "detail": "partitions", "member_labels": True}
    plain = scrape(lake, cluster=cluster, **chosen)
    openmetrics = scrape(lake, accept=OPENMETRICS, cluster=cluster, **chosen)
    assert plain.names == openmetrics.names
    assert plain.count() == openmetrics.count()
    return plain


def find_wrong_fields(found: Scraped) -> Iterator[str]:
    """Where a set is not that of peers.md (b), field by field: its name, its type, its labels."""
    told = {
        sample.name: (family.type, set(sample.labels))
        for family in found.families
        for sample in family.samples
    }
    for name, facts in FACTS.items():
        lacks = {one for one, _ in SET_BY_NAME[name].lacks}
        for metric, (kind, labels) in facts.items():
            wanted = None if metric in lacks else (kind, set(labels))
            if told.get(metric) != wanted:
                yield f"{metric}: {told.get(metric)}, not {wanted}"


def check_burrow(client: TestClient, cluster: str, live: LiveTruth, strange: set[Place]) -> None:
    """Burrow's answers by what is so, field by field."""

    def fetch(path: str, wanted: Any, message: str) -> dict[str, Any]:
        answer = client.get(path)
        assert answer.status_code == 200, answer.text
        check_body(answer.json(), wanted, path, message)
        body: dict[str, Any] = answer.json()
        return body

    assert fetch("/v3/kafka", {"clusters": [""]}, "cluster list returned")["clusters"] == [cluster]
    path = f"/v3/kafka/{cluster}"
    topics = fetch(f"{path}/topic", {"topics": [""]}, "topic list returned")["topics"]
    assert [one for one in topics if not one.startswith("__")] == sorted(live.topics)
    for topic, numbers in live.topics.items():
        found = fetch(f"{path}/topic/{topic}", {"offsets": [0]}, "topic offsets returned")
        assert found["offsets"] == [live.ends[topic, one] for one in sorted(numbers)]
    committed = {one: at for one, at in live.merge().items() if one[1:] in live.ends}
    groups = fetch(f"{path}/consumer", {"consumers": [""]}, "consumer list returned")["consumers"]
    assert set(groups) == {place[0] for place in committed if place not in strange}
    statuses = {}
    for group in groups:
        of = f"{path}/consumer/{quote(group)}"
        status = fetch(f"{of}/lag", STATUS, "consumer status returned")["status"]
        told = {(group, one["topic"], one["partition"]): one for one in status["partitions"]}
        unsure = strange | live.both
        mine = {one: at for one, at in committed.items() if one[0] == group and one not in unsure}
        lag = {one: max(0, live.ends[one[1:]] - at) for one, at in mine.items()}
        assert {one: told[one]["current_lag"] for one in mine} == lag
        assert {one: told[one]["end"]["offset"] for one in mine} == mine
        assert status["totallag"] == sum(one["current_lag"] for one in told.values())
        windows = fetch(
            of, {"topics": {one[1]: [WINDOW] for one in told}}, "consumer detail returned"
        )
        for one in mine:
            assert windows["topics"][one[1]][one[2]]["current-lag"] == lag[one], "with a hyphen"
        statuses[group] = status["status"]
    print(statuses)
    missing = client.get(f"{path}/consumer/nobody/status")
    assert (missing.status_code, missing.json()["status"]["status"]) == (404, "NOTFOUND")
    assert client.delete(f"{path}/consumer/{groups[0]}").status_code == 405
