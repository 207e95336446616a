"""`zklake racks`: how many brokers are registered in each rack.

test_recipes.py puts it into a copy of the product as zklake/cli/racks.py.
"""

from __future__ import annotations

from zklake.cli.answers import choose_form, print_rows
from zklake.cli.asking import Clusters, choose_scope
from zklake.cli.options import AsJson, Config, Lake

_RACKS = "SELECT rack, count(*) AS brokers FROM broker_membership WHERE is_open GROUP BY rack"


def racks(
    *,
    lake: Lake = None,
    cluster: Clusters = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """List racks, and how many brokers are registered in each."""
    from delta_tables.reading import read_rows

    (place,) = choose_scope(config, lake=lake, cluster=cluster).lakes
    rows = [tuple(row.values()) for row in read_rows(place.path, place.cluster, _RACKS)]
    print_rows(("rack", "brokers"), rows, choose_form(as_json=as_json, as_csv=False))
