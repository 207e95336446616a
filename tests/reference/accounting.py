"""The accounting rule: each change in ZooKeeper's own log is told, withheld for a stated reason, or
inside a gap that was declared; and nothing is told that did not happen.

Counts, and lists of what breaks the rule. Strict: what is not clearly explained is unexplained.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.reference.blackout import Explanation
from tests.reference.ledger import Ledger
from tests.reference.published import Published
from tests.reference.reckoning import Reckoning
from tests.reference.tree import Change

CLASSES = (
    "published",
    "superseded",
    "redacted",
    "oversize",
    "sealed",
    "in_gap",
    "before",
    "acl",
    "unexplained",
)


@dataclass
class Accounts:
    """One number per class (they add up to the changes given), and every finding."""

    counts: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)
    phantoms: list[str] = field(default_factory=list)
    out_of_order: list[str] = field(default_factory=list)
    seq_faults: list[str] = field(default_factory=list)
    order_equal: bool = True
    # The log ends inside a gap: its changes are declared, and not yet compared.
    ends_in_gap: bool = False

    @property
    def is_clean(self) -> bool:
        """Nothing breaks the rule."""
        return self.order_equal and not (self.unexplained or self.phantoms or self.seq_faults)

    def __str__(self) -> str:
        numbers = "  ".join(f"{name} {self.counts[name]}" for name in CLASSES)
        findings = (self.unexplained, self.phantoms, self.out_of_order, self.seq_faults)
        lines = [line for finding in findings for line in finding[:20]]
        return "\n".join([f"{numbers}  phantoms {len(self.phantoms)}", *lines])


def account(
    changes: list[Change],
    records: Sequence[Mapping[str, Any]],
    sealed: Collection[str] = (),
) -> Accounts:
    """Hold the published records (in offset order) against the changes of one chroot."""
    reckoning = Reckoning(Ledger(changes, frozenset(sealed)))
    reckoning.run(records)
    ledger, accounts = reckoning.ledger, Accounts(seq_faults=check_seq(records))
    classes = _classify(reckoning, accounts)
    accounts.counts.update(classes)
    accounts.unexplained += reckoning.find_unframed()
    for blackout in reckoning.blackouts:
        few, many = Explanation(blackout, ledger).check_lives()
        accounts.unexplained += few
        ledger.phantoms += many
    accounts.phantoms = ledger.phantoms
    accounts.out_of_order = ledger.out_of_order
    accounts.order_equal = not (ledger.out_of_order or reckoning.alignment.dropped)
    accounts.ends_in_gap = any(blackout.is_open for blackout in reckoning.blackouts)
    return accounts


def check_seq(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Holes, repeats, a clock that goes back, a change of log: [] when there is none."""
    faults = []
    for last, record in itertools.pairwise(records):
        if record["seq"] != last["seq"] + 1:
            faults.append(f"seq {record['seq']} follows {last['seq']}")
        if record["observed_at_ms"] < last["observed_at_ms"]:
            faults.append(f"observed_at_ms goes back at seq {record['seq']}")
        if record["log_id"] != last["log_id"]:
            faults.append(f"another log_id at seq {record['seq']}")
    return faults


def _classify(reckoning: Reckoning, accounts: Accounts) -> list[str]:
    ledger = reckoning.ledger
    unseen = _explain_blind(reckoning)
    classes = []
    for index, change in enumerate(ledger.changes):
        is_dropped = index in reckoning.alignment.dropped
        name = "unexplained" if is_dropped else _name_class(ledger, unseen, index)
        fault = ledger.faulty.get(index) or _find_false_claim(ledger, index)
        if name != "before" and (fault or name == "unexplained"):
            name = "unexplained"
            accounts.unexplained.append(fault or f"{_describe(change)}: nothing tells of it")
        classes.append(name)
    return classes


def _explain_blind(reckoning: Reckoning) -> dict[int, str]:
    unseen: dict[int, str] = {}
    for blackout in reckoning.blackouts:
        explanation = Explanation(blackout, reckoning.ledger)
        name = "before" if blackout.is_first else "in_gap"
        for index in blackout.blind:
            unseen[index] = name if explanation.covers(index) else "unexplained"
    return unseen


def _name_class(ledger: Ledger, unseen: Mapping[int, str], index: int) -> str:
    teller = ledger.told.get(index)
    if ledger.changes[index].op == "set_acl":
        return "acl"
    if teller is not None and (index not in unseen or teller.origin == "watch"):
        return "published" if teller.fidelity == "exact" else _name_withheld(ledger, teller)
    if ledger.is_sealed(index):
        return "sealed"
    return unseen.get(index, "in_gap" if index in ledger.covered else "unexplained")


def _name_withheld(ledger: Ledger, teller: Published) -> str:
    if teller.fidelity == "unreadable":
        return "sealed" if teller.path in ledger.sealed else "unexplained"
    return teller.fidelity


def _find_false_claim(ledger: Ledger, index: int) -> str | None:
    """`superseded` says that a later write won: the log must have one, or a read the value."""
    teller = ledger.told.get(index)
    if teller is None or teller.fidelity != "superseded" or teller.op == "delete":
        return None
    life, version = ledger.lives.of_change[index], ledger.changes[index].version
    was_overtaken = life.ended is not None or version + 1 in life.versions
    if was_overtaken or (life, version) in ledger.read:
        return None
    return f"{teller}: no later write, and its value was never told"


def _describe(change: Change) -> str:
    return f"zxid {change.zxid:#x} {change.op} {change.path} v{change.version}"
