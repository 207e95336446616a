"""A log written by hand: one line per event, and what the fold makes of it."""

from __future__ import annotations

from typing import Any

from tests.reference.fold.tables import fold_events
from zklake.events.envelope import Event, Frame, Gap, GapReason, Op, Stat

Row = dict[str, Any]
_STAT = frozenset(Stat.__struct_fields__)


class Script:
    """Event n has seq n and is observed n steps (seconds) after 1970, unless it says otherwise."""

    def __init__(self, cluster: str = "c", step_ms: int = 1000) -> None:
        self.cluster, self.step_ms = cluster, step_ms
        self.events: list[Event] = []
        self.seq = 0

    def say(self, op: Op, kind: str | None = None, path: str | None = "/", **fields: Any) -> Script:
        """One event; names of ZooKeeper's stat go into its stat."""
        self.seq = fields.pop("seq", self.seq + 1)
        at_ms = fields.pop("at", self.seq * self.step_ms)
        stat = {name: fields.pop(name) for name in list(fields) if name in _STAT}
        if op in ("create", "set", "read", "delete"):
            fields.setdefault("origin", "watch")
        self.events.append(
            Event(
                cluster=self.cluster,
                log_id="log-1",
                seq=self.seq,
                op=op,
                observed_at_ms=at_ms,
                path=path,
                kind=kind,
                stat=Stat(**stat) if stat else None,
                **fields,
            )
        )
        return self

    def gap(
        self, gap_id: str, reason: GapReason = "restart", path: str = "/", **fields: Any
    ) -> Script:
        """A gap, or with `lives` what one hid."""
        return self.say("gap", None, path, gap=Gap(gap_id, reason, **fields))

    def frame(self, frame_id: str) -> Script:
        """frame_begin."""
        return self.say("frame_begin", frame=Frame(frame_id))

    def in_sync(self, frame_id: str, base: Any = "model") -> Script:
        """in_sync."""
        return self.say("in_sync", frame=Frame(frame_id, base))

    def hole(self, missed: int) -> Script:
        """Some seqs are missing; the event stands at the last of them."""
        self.seq += missed
        gap = Gap(f"hole-{self.seq}", "seq_hole", from_ms=(self.seq - missed) * 1000)
        return self.say("seq_hole", None, None, seq=self.seq, missed=missed, gap=gap)

    def beat(self, at: int) -> Script:
        """A heartbeat."""
        return self.say("heartbeat", at=at)

    def rows(self, table: str, *columns: str) -> list[Any]:
        """Whole rows; or of each row some columns; or of each row one."""
        rows = fold_events(self.events)[table]
        if not columns:
            return rows
        if len(columns) == 1:
            return [row[columns[0]] for row in rows]
        return [tuple(row[column] for column in columns) for row in rows]
