"""The state of one cluster and the folds of its groups, taken through the log together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from streaming.fold.cluster_state import ClusterState
from streaming.fold.context import Context
from streaming.fold.group_fold import GroupFold, TableRows
from zklake.events.envelope import Event

# The znodes that folds of groups follow; of others they only learn that time passes.
GROUP_KINDS = frozenset(("consumer", "owner", "topic", "offset", "partition_state"))
ZNODE_OPS = frozenset(("create", "set", "delete", "read", "unreadable"))
# A marker moves at least this often: what follows it is read again after a restart.
_IDLE_MS = 3_600_000


class LateStart(NamedTuple):
    """A fold that is in the lake as of some seq already: it begins with the state of then."""

    seq: int
    make: Callable[[ClusterState], GroupFold]


class GroupFolds:
    """Follows each event once."""

    def __init__(
        self,
        cluster_state: ClusterState,
        folds: Sequence[GroupFold] = (),
        late_starts: Sequence[LateStart] = (),
        taken_at_ms: int | None = None,
    ) -> None:
        """`taken_at_ms`: None if the lake holds nothing."""
        self.cluster_state, self.folds = cluster_state, [*folds]
        self._late_starts = [*late_starts]
        self._taken_at_ms = taken_at_ms
        self._at_ms = 0
        # Seq and time of the last event that no fold got.
        self._untold: tuple[int, int] | None = None

    def apply(self, event: Event, context: Context) -> None:
        """Take one event."""
        self.begin(event.seq)
        if event.kind not in GROUP_KINDS and event.op in ZNODE_OPS:
            self._untold = event.seq, event.observed_at_ms
            return
        self._pass_time()
        self._at_ms = max(self._at_ms, event.observed_at_ms)
        changes = self.cluster_state.apply(event, context)
        for fold in self.folds:
            fold.apply(event, changes, self.cluster_state, context)

    def pass_time(self, seq: int, at_ms: int) -> None:
        """Events that change nothing here came, up to that one."""
        if self._late_starts:
            self._begin(seq)
        self._untold = seq, at_ms

    def _pass_time(self) -> None:
        untold, self._untold = self._untold, None
        if untold is not None:
            self._at_ms = max(self._at_ms, untold[1])
            for fold in self.folds:
                fold.pass_time(*untold)

    def begin(self, seq: int) -> None:
        """An event is about to come: those begin whose tables do not hold it yet."""
        if self._late_starts:
            self._pass_time()
            self._begin(seq)

    def _begin(self, seq: int) -> None:
        waiting = self._late_starts
        self._late_starts = [each for each in waiting if each.seq >= seq]
        self.folds += [each.make(self.cluster_state) for each in waiting if each.seq < seq]

    def take(self, *, idle: bool = False) -> dict[str, TableRows]:
        """What the tables must hold, of those with news; of all with `idle`, and once an hour."""
        self._pass_time()
        is_due = self._taken_at_ms is None or self._at_ms - self._taken_at_ms >= _IDLE_MS
        if is_due:
            self._taken_at_ms = self._at_ms
        return {
            name: taken
            for fold in sorted(self.folds, key=_is_asked)
            for name, taken in fold.take(idle=idle or is_due).items()
        }


def _is_asked(fold: GroupFold) -> bool:
    """Whether it is the one that is asked how far members have read, when they leave.

    Its tables are committed last: what others learned by asking it must not be missing from the
    lake when it is there already, for it cannot be asked of the past.
    """
    return "log_ends" in fold.tables
