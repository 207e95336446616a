"""What the lake would tell the fold of lag that begins anew: the tables, by the reference fold."""

from __future__ import annotations

from streaming.fold.lag.recalling import Recollection
from tests.reference.fold.tables import fold_events
from tests.streaming.fold.driving import Stop


def recollect(stop: Stop) -> Recollection:
    """Rows as of the mark of log_ends."""
    seq = stop.seqs["log_ends"]
    past = [event for event in stop.past if event.seq <= seq]
    rounds = [e for e in past if e.log_ends is not None and e.log_ends.round is not None]
    bases = [e.seq for e in rounds if e.log_ends.round.is_base]  # type: ignore[union-attr]
    after_seq = max((e.log_ends.round.after_seq for e in rounds), default=None)  # type: ignore[union-attr]
    tables = fold_events(past)
    goes_on = (None, "changed", "unreadable")
    offsets = [
        row
        for row in tables["consumer_offsets"]
        if row["is_open"] or (after_seq is not None and row["valid_to_seq"] > after_seq)
    ]
    return Recollection(
        seq=seq,
        lag_seq=stop.seqs["offset_lag"],
        pause_seq=stop.seqs["consumption_pauses"],
        round_seq=rounds[-1].seq if rounds else None,
        base_seq=bases[-1] if bases else None,
        after_seq=after_seq,
        end_rows=[row for row in stop.rows["log_ends"] if row["is_open"]],
        curve_rows=[row for row in stop.rows["log_ends"] if not row["is_open"]],
        lag_rows=[row for row in stop.rows["offset_lag"] if row["is_open"]],
        offset_rows=offsets,
        topic_rows=[row for row in tables["topics"] if row["ended_by"] not in goes_on],
    )
