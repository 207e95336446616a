"""Any looks at any history, with rules and rows that go and come back: told once, never missed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.evaluation import Evaluation
from alerts.incident import Incident, IncidentSubject, Spell
from alerts.incidents import Terms, find_doubts, find_incidents
from alerts.reconciliation import IncidentChanges, end, reconcile
from zklake.settings.alert_rules import GroupStatus

START = datetime(2026, 11, 16, 3, 0, tzinfo=UTC)
RULE = GroupStatus(for_s=20, clear_s=10)
GROUPS = ("billing", "search")

# (group, start, length; 0: it lasts)
SPELLS = st.lists(
    st.tuples(st.sampled_from(GROUPS), st.integers(0, 300), st.integers(0, 80)), max_size=6
)
# (when, whether the rule is there, spells that the lake does not show just then)
LOOKS = st.lists(
    st.tuples(st.integers(0, 500), st.booleans(), st.sets(st.integers(0, 5), max_size=2)),
    max_size=15,
)


def at(seconds: int) -> datetime:
    return START + timedelta(seconds=seconds)


class Ledger:
    """What the journal would hold."""

    def __init__(self) -> None:
        self.open: dict[str, Incident] = {}
        self.past: set[str] = set()
        self.events: list[tuple[str, str]] = []

    def take(self, changes: IncidentChanges) -> None:
        for one in changes.opened:
            self.events.append((one.id, "open"))
            self.open[one.id] = replace(one, ended_at=None, closed_at=None, spells=0, evidence={})
        for one in changes.closed:
            self.events.append((one.id, "close"))
            del self.open[one.id]
            self.past.add(one.id)


def look(spells: list[Spell], horizon: datetime) -> Evaluation:
    terms = Terms("kafka", RULE.title, RULE.severity, RULE.for_s, RULE.clear_s)
    shown = [one for one in spells if one.started_at <= horizon]
    return Evaluation(
        RULE, horizon, find_incidents(shown, terms, horizon), find_doubts(shown, horizon)
    )


@settings(max_examples=300)
@given(SPELLS, LOOKS)
def test_what_is_open_is_told_whatever_went_and_came_back(
    drawn: list[tuple[str, int, int]], looks: list[tuple[int, bool, set[int]]]
) -> None:
    spells = [
        Spell(IncidentSubject("group", ("kafka", group)), at(s), at(s + n) if n else None, mark)
        for mark, (group, s, n) in enumerate(sorted(drawn, key=lambda one: one[1]))
    ]
    ledger, last = Ledger(), None
    for seconds, is_there, hidden in sorted(looks, key=lambda one: one[0]):
        if not is_there:
            ended = [end(one, at(seconds), "no rule") for one in ledger.open.values()]
            ledger.take(IncidentChanges([], [], ended))
            continue
        evaluation = look([one for one in spells if one.mark not in hidden], at(seconds))
        ledger.take(reconcile(evaluation, last, list(ledger.open.values()), ledger.past))
        last = evaluation.horizon
        lasting = {one.subject for one in evaluation.incidents if one.is_open}
        assert {one.subject for one in ledger.open.values()} == lasting
        assert len(ledger.open) == len(lasting)
    assert len(set(ledger.events)) == len(ledger.events), "one open and one close of each"
    assert {id_ for id_, event in ledger.events if event == "close"} == ledger.past
