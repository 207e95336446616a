"""How well Why tells the causes of all incidents apart: what it says of each, as docs/causes.md.

`python -m tests.incidents.table` prints the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from delta_tables import reading
from tests.incidents.folded import CLUSTER, fold_lake
from tests.incidents.incidents import INCIDENTS, Incident
from tests.incidents.unseen import UNSEEN

Row = dict[str, Any]
EVERY = (*INCIDENTS, *UNSEEN)
# No causes: nobody says who did it.
_NOBODY = ("left", "unknown")
_RISES = "SELECT * FROM root_cause WHERE added >= 100 ORDER BY group_id, rise_from, rank"


class Outcome(NamedTuple):
    """What Why says of an incident: the rows of the largest rise of its group."""

    incident: Incident
    rows: Sequence[Row]
    # The largest rise of another group, with what is said of it.
    elsewhere: Sequence[Row]

    @property
    def causes(self) -> list[str]:
        """By rank, less what is left."""
        return [row["cause"] for row in self.rows if row["cause"] != "left"]

    @property
    def is_first(self) -> bool:
        """Whether the largest true cause comes first, and is said of whom it is true."""
        named = self.incident.entity in (None, self.rows[0]["entity"])
        return bool(named) and self.causes[:1] == [self.incident.causes[0]]

    @property
    def is_second(self) -> bool:
        """Whether all true causes, one or two, come first and in their order."""
        true = [*self.incident.causes]
        return self.is_first and self.causes[: len(true)] == true

    @property
    def added(self) -> int:
        """By how many records the lag rose."""
        return int(self.rows[0]["added"])

    @property
    def explained(self) -> int:
        """How many of them have a cause."""
        nobodys = (abs(row["records"]) for row in self.rows if row["cause"] in _NOBODY)
        return self.added - int(sum(nobodys))


def find_outcome(incident: Incident, path: Path) -> Outcome:
    """Play it, fold it into a lake at that path, and ask."""
    rows = reading.read_rows(fold_lake(path, incident.run()), CLUSTER, _RISES)
    mine = [row for row in rows if row["group_id"] == incident.group]
    others = [row for row in rows if row["group_id"] != incident.group]
    return Outcome(incident, _find_largest(mine), _find_largest(others))


def _find_largest(rows: Sequence[Row]) -> list[Row]:
    most = max((row["added"] for row in rows), default=0)
    return [row for row in rows if row["added"] == most]


def format_table(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Markdown: a row for each, and all together."""
    yield "| incident | added | true, the largest first | said | first | both | explained |"
    yield "|---|---|---|---|---|---|---|"
    for one in outcomes:
        both = "" if len(one.incident.causes) == 1 else _say(one.is_second)
        said = ", ".join(f"{row['cause']} {row['records']:,}" for row in one.rows[:3])
        true = ", ".join(one.incident.causes)
        share = f"{one.explained / one.added:.0%}"
        cells = (one.incident.name, f"{one.added:,}", true, said, _say(one.is_first), both, share)
        yield f"| {' | '.join(cells)} |"
    of_two = [one for one in outcomes if len(one.incident.causes) == 2]
    added, explained = (
        sum(n) for n in zip(*((o.added, o.explained) for o in outcomes), strict=True)
    )
    first = f"{sum(one.is_first for one in outcomes)} of {len(outcomes)}"
    both = f"{sum(one.is_second for one in of_two)} of {len(of_two)}"
    yield f"| all | {added:,} | | | {first} | {both} | {explained / added:.0%} |"


def _say(is_right: bool) -> str:
    return "yes" if is_right else "NO"


def main() -> None:
    """Print the table."""
    outcomes = []
    for incident in EVERY:
        with TemporaryDirectory() as path:
            outcomes.append(find_outcome(incident, Path(path)))
    print("\n".join(format_table(outcomes)))


if __name__ == "__main__":
    main()
