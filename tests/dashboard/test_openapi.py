from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
from jsonschema_rs import Draft202012Validator
from starlette.routing import Route
from starlette.testclient import TestClient

from dashboard.app import build_app
from dashboard.openapi.docs import describe
from dashboard.openapi.document import build_document
from dashboard.openapi.rows import WORDS
from dashboard.options import Options
from dashboard.pages import PAGES
from dashboard.pulse import Pulse
from delta_tables.catalog import TABLES
from tests.dashboard.addresses import ADDRESSES, name_api, write_address
from tests.dashboard.conftest import open_client
from tests.dashboard.story import HOSTILE_GROUP
from tests.dashboard.story_lake import CLUSTER
from tests.dashboard.wild_lake import WILD_NAME, write_wild_lake

DOCUMENT = build_document()


def find_faults(path: str, answer: Any, status: int = 200) -> list[str]:
    """Where an answer is not as described."""
    content = DOCUMENT["paths"][path]["get"]["responses"][str(status)]["content"]
    schema = {**content["application/json"]["schema"], "components": DOCUMENT["components"]}
    validator = Draft202012Validator(schema, validate_formats=True)
    return [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(answer)]


@pytest.fixture(scope="module")
def wild_client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    lake = str(tmp_path_factory.mktemp("wild"))
    write_wild_lake(lake)
    return open_client(Options(lake, CLUSTER))


def list_wild() -> Iterator[str]:
    for page in PAGES:
        wild = {"group_id": WILD_NAME, "topic": WILD_NAME, "broker_id": "2147483647"}
        names = {one.name: wild[one.name] for one in page.params if one.name in wild}
        yield write_address(f"/api/{page.name}", **names)
    yield write_address("/api/at", table="offset_lag", q=WILD_NAME)
    yield write_address("/api/sql", query="SELECT * FROM broker_membership")


@pytest.mark.parametrize("address", list(list_wild()))
def test_the_oddest_rows_come_out_as_described(wild_client: TestClient, address: str) -> None:
    answer = wild_client.get(address)
    assert answer.status_code == 200, answer.text
    assert find_faults(address.partition("?")[0], answer.json()) == []
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_names_are_the_same_in_json_as_in_the_lake(
    wild_client: TestClient, client: TestClient
) -> None:
    (wild,) = wild_client.get(write_address("/api/topics", q="script")).json()["rows"]
    assert wild["topic"] == WILD_NAME
    group = client.get(write_address("/api/group", group_id=HOSTILE_GROUP)).json()["group"]
    assert group["group_id"] == HOSTILE_GROUP


@pytest.mark.parametrize("address", [name_api(one) for one in ADDRESSES])
def test_an_empty_lake_answers_as_described(empty_client: TestClient, address: str) -> None:
    answer = empty_client.get(address)
    assert answer.status_code == 200
    assert find_faults(address.partition("?")[0], answer.json()) == []


def test_the_description_notices_what_is_wrong(client: TestClient) -> None:
    answer = client.get("/api/groups").json()
    assert find_faults("/api/groups", answer) == []
    for key, value in (("lag", "7"), ("status", "FINE"), ("partitions", None), ("added", 1)):
        wrong = copy.deepcopy(answer)
        wrong["rows"][0][key] = value
        assert find_faults("/api/groups", wrong), key
    wrong = copy.deepcopy(answer)
    del wrong["rows"][0]["group_id"]
    wrong["pulse"]["watermark_at"] = "yesterday"
    assert len(find_faults("/api/groups", wrong)) == 2


def test_an_answer_that_is_not_as_declared_is_never_sent(client: TestClient) -> None:
    page = next(page for page in PAGES if page.name == "groups")
    answer = client.get("/api/groups").json()
    pulse = msgspec.convert(answer.pop("pulse"), Pulse, strict=False)
    assert find_faults("/api/groups", json.loads(page.encode(answer, pulse))) == []
    for key, value in (("lag", "7"), ("status", "FINE"), ("partitions", None), ("added", 1)):
        wrong = copy.deepcopy(answer)
        wrong["rows"][0][key] = value
        with pytest.raises(msgspec.ValidationError):
            page.encode(wrong, pulse)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("/api/groups?gruop_id=a", "Unknown parameter 'gruop_id'. Use one of: status, q, sort"),
        ("/api/groups?page=1&page=2", "page is given twice"),
        ("/api/groups?page=0", "page='0' is not valid: Expected `int` >= 1"),
        ("/api/groups?page=2.0", "page='2.0' is not a whole number"),
        ("/api/groups?page=" + "9" * 400, "page='999"),
        ("/api/groups?page=%F0%9F%90%98", "page='🐘'"),
        ("/api/groups?sort=nothing", "sort='nothing' is not one of"),
        ("/api/groups?status=FINE", "status='FINE' is not one of"),
        ("/api/changes?kind=%00", "kind='' is not one of config"),
        ("/api/overview?last=99999w", "last: cannot read '99999w' as a time span"),
        ("/api/overview?last=%D9%A1h", "last: cannot read '١h' as a time span"),
        ("/api/at?time=%ED%A0%80", "as a time"),
        ("/api/at?raw=2", "raw='2' is not one of 1"),
    ],
)
def test_what_is_not_described_is_refused(client: TestClient, address: str, says: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 400
    assert find_faults(address.partition("?")[0], answer.json(), 400) == []
    assert says in answer.json()["error"]
    assert len(answer.content) < 2000


@pytest.mark.parametrize("text", ["%00", "%ED%A0%80", "%FF", "%0D%0A", "'; DROP TABLE topics; --"])
def test_any_text_is_a_name(client: TestClient, text: str) -> None:
    for address in (f"/api/topic?topic=a{text}", f"/api/group?group_id=a{text}"):
        answer = client.get(address)
        assert answer.status_code == 404
        assert find_faults(address.partition("?")[0], answer.json(), 404) == []


def test_refusals_are_json_below_api(lake: str) -> None:
    client = open_client(Options(lake, CLUSTER, token="t0ken"))
    strange = {"host": "evil.example"}
    foreign = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}
    for headers, status in (({}, 401), (strange, 421), (foreign, 403)):
        answer = client.get("/api/groups", headers=headers)
        assert answer.status_code == status
        assert find_faults("/api/groups", answer.json(), status) == []
        assert answer.headers["content-type"] == "application/json"
    known = {"authorization": "Bearer t0ken"}
    for method, path, status in (("GET", "/api/nothing", 404), ("DELETE", "/api/groups", 405)):
        answer = client.request(method, path, headers=known)
        assert answer.status_code == status
        assert list(answer.json()) == ["error"]
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}


def test_every_address_is_described_and_every_description_has_one(client: TestClient) -> None:
    app = build_app(Options("nowhere", CLUSTER))
    for_people = {"/live"} | {"/" if page.name == "overview" else f"/{page.name}" for page in PAGES}
    routed = {route.path for route in app.routes if isinstance(route, Route)} - for_people
    told = {path for path in DOCUMENT["paths"] if not path.startswith("/v3")}
    assert told == {path for path in routed if not path.startswith("/v3")}
    served = client.get("/api/openapi.json")
    assert served.headers["content-type"] == "application/json"
    assert served.json() == json.loads(json.dumps(DOCUMENT))


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_links_to_its_json(client: TestClient, address: str) -> None:
    sign = "&" if "?" in address else "?"
    text = client.get(f"{address}{sign}last=6h&nonsense=1").text
    link = re.search(r'<a href="(/api/[^"]+)">View as JSON</a>', text)
    assert link is not None
    answer = client.get(unescape(link[1]))
    assert answer.status_code == 200, answer.text
    page = next(page for page in PAGES if page.name == urlsplit(link[1]).path.split("/")[-1])
    assert ("last=6h" in link[1]) == page.has_span


def test_the_catalogue_names_the_same_words() -> None:
    """Where a column holds one of a few words, its comment says which."""
    for table in TABLES:
        for column in table.columns:
            missing = [word for word in WORDS.get(column.name, ()) if word not in column.comment]
            assert missing == [] or table.name == "lag_rollups", (table.name, column.name)


def test_the_document_is_up_to_date() -> None:
    document = Path(__file__).parents[2] / "docs" / "api.md"
    assert document.read_text() == describe(), "run `make docs`"
