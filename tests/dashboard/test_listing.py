from __future__ import annotations

from dashboard.listing import PAGE_ROWS, list_page

ROWS = [{"name": f"n{number:05}", "size": number % 7 or None} for number in range(10_000)]


def test_a_list_is_searched_sorted_and_paged() -> None:
    page = list_page(ROWS, {"q": "N0123", "sort": "-size"}, search=("name",), sort="name")
    assert (page["found"], page["total"], page["pages"]) == (10, 10_000, 1)
    assert page["rows"][0]["size"] == 6
    assert page["rows"][-1]["size"] is None
    last = list_page(ROWS, {"page": "99999"}, search=("name",), sort="name")
    assert (last["page"], len(last["rows"])) == (10_000 // PAGE_ROWS, PAGE_ROWS)
    assert last["rows"][-1]["name"] == "n09999"
    empty = list_page([], {"sort": "size"}, search=("name",), sort="name")
    assert (empty["rows"], empty["pages"]) == ([], 1)
