"""The controller table: who reigns, with which epoch. Two znodes make one row."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.reference.fold.payloads import timestamp
from tests.reference.fold.states import (
    OPEN,
    State,
    begin,
    end,
    end_by_next,
    is_echo,
    is_second_half,
    is_touch,
    stat_of,
)
from tests.reference.fold.values import value_of
from zklake.events.envelope import Event

Row = dict[str, Any]


class Epoch(NamedTuple):
    """A decoded value of /controller_epoch, and the transaction that wrote it."""

    value: int
    zxid: int | None


class Controllers:
    """All rows of one cluster. Once there is a row, one is always open."""

    def __init__(self) -> None:
        self.states: list[State] = []
        # The open row; `reigns` tells a controller's from nobody's.
        self.standing: State | None = None
        self.reigns = False
        # The last decoded epoch, the one the open row carries, and whether it takes no other.
        self.epoch: Epoch | None = None
        self.carried: Epoch | None = None
        self.is_sealed = False
        self.epoch_seen_seq = -1

    @property
    def kraft_controller_epoch(self) -> int | None:
        """Of the controller that reigns now."""
        return self.standing.row["kraft_controller_epoch"] if self.standing else None

    def take(self, event: Event) -> None:
        """A create, set or read of /controller."""
        standing = self.standing
        is_repeat = standing is not None and self.reigns and is_echo(standing, event)
        if is_touch(event) or is_repeat:
            if standing is not None:
                standing.see(event)
            return
        state = begin(event)
        if standing is not None and self.reigns and is_second_half(standing, event):
            self.states.remove(standing)
        elif standing is not None and self.reigns:
            end_by_next(standing.row, state, event)
        elif standing is not None and not standing.row["is_known"]:
            # It said only that nobody had looked yet.
            self.states.remove(standing)
        elif standing is not None:
            zxid, at = state.row["valid_from_zxid"], state.row["valid_from_at"]
            end(standing.row, "changed", event.seq, zxid, at)
        self._stand(state, reigns=True)

    def delete(self, event: Event, at_min: int | None) -> State | None:
        """/controller is gone; the reign that ended, or None if nobody reigned."""
        if self.standing is None or not self.reigns:
            return None
        ended = self.standing
        at = timestamp(event.observed_at_ms)
        end(ended.row, "deleted", event.seq, event.zxid, at, at_min)
        self._stand(_nobody(event, event.zxid, is_known=True), reigns=False)
        return ended

    def take_epoch(self, event: Event) -> None:
        """A create, set or read of /controller_epoch."""
        self.epoch_seen_seq = event.seq
        if is_touch(event):
            return
        if self.standing is None:
            self._stand(_nobody(event, event.zxid, is_known=False), reigns=False)
        value = value_of(event)
        if not value.is_known:
            return
        mzxid = stat_of(event).mzxid
        zxid = event.zxid if mzxid is None else mzxid
        self.epoch = Epoch(value.columns["controller_epoch"], zxid)
        self._offer(self.epoch)

    def forget_epoch(self) -> None:
        """/controller_epoch is gone."""
        self.epoch = None

    def close_unseen(self, event: Event, begin_seq: int, at_min: int | None) -> None:
        """A closure: what no event showed since the frame began is gone."""
        if self.epoch_seen_seq < begin_seq:
            self.epoch = None
        if self.standing is not None and self.reigns and self.standing.seen_seq < begin_seq:
            at = timestamp(event.observed_at_ms)
            end(self.standing.row, "resync", event.seq, None, at, at_min)
            self._stand(_nobody(event, None, is_known=True), reigns=False)

    def _stand(self, state: State, *, reigns: bool) -> None:
        self.states.append(state)
        self.standing = state
        self.reigns = reigns
        self.carried = self.epoch
        state.row["controller_epoch"] = self.epoch.value if self.epoch else None
        czxid = state.row["czxid"]
        zxid = self.epoch.zxid if self.epoch else None
        self.is_sealed = czxid is not None and zxid is not None and zxid >= czxid

    def _offer(self, epoch: Epoch) -> None:
        """The open row takes an epoch, or leaves it to the next one."""
        if self.standing is None or (self.reigns and self.is_sealed):
            return
        if self.reigns and self._is_carried(epoch):
            return
        self.standing.row["controller_epoch"] = epoch.value
        self.carried = epoch
        self.is_sealed = self.reigns

    def _is_carried(self, epoch: Epoch) -> bool:
        """The same write, read again: it says nothing of the row that began since."""
        return (
            self.carried is not None and epoch.zxid is not None and self.carried.zxid == epoch.zxid
        )


def _nobody(event: Event, zxid: int | None, *, is_known: bool) -> State:
    """The row of a time in which nobody holds /controller, as far as is known."""
    row = {
        "controller_id": None,
        "kraft_controller_epoch": None,
        "registered_at": None,
        "session": None,
        "czxid": None,
        "znode_version": None,
        "fidelity": None,
        "is_known": is_known,
        "decode_error": None,
        "unseen_versions": 0,
        "seen_seq": event.seq,
        "valid_from_seq": event.seq,
        "valid_from_zxid": zxid,
        "valid_from_at": timestamp(event.observed_at_ms),
        **OPEN,
    }
    return State(event, row, is_blank=False)
