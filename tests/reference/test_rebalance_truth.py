"""The re-told rebalances of small histories; a transaction's zxid is also its millisecond."""

from __future__ import annotations

import json

from tests.reference.group_log import Seen
from tests.reference.history import History
from tests.reference.rebalance_truth import Episode, Pace, tell_rebalances

PACE = Pace(quiet_ms=1000, fail_ms=3000)
GROUP = "/consumers/g"


class Play(History):
    """A group g, a topic t with two partitions."""

    def __init__(self) -> None:
        super().__init__()
        for path in ("/brokers", "/brokers/topics", "/consumers", GROUP, f"{GROUP}/ids"):
            self.create(path)
        self.create(f"{GROUP}/owners")
        self.create(f"{GROUP}/owners/t")
        self.create("/brokers/topics/t", self.describe(2))

    @staticmethod
    def describe(partitions: int) -> bytes:
        return json.dumps({"partitions": {str(p): [0] for p in range(partitions)}}).encode()

    def join(self, member: str, session: int, regex: str | None = None) -> None:
        pattern = "static" if regex is None else "white_list"
        data = json.dumps({"subscription": {regex or "t": 1}, "pattern": pattern}).encode()
        self.create(f"{GROUP}/ids/{member}", data, session=session)

    def claim(self, partition: int, member: str, session: int) -> None:
        self.create(f"{GROUP}/owners/t/{partition}", f"{member}-0".encode(), session=session)

    def release(self, partition: int) -> None:
        self.delete(f"{GROUP}/owners/t/{partition}")

    def wait(self, ms: int) -> None:
        self.zxid += ms

    def tell(self, *unread: int) -> list[Episode]:
        """Seen at once; `unread`: the claims, by number, that were gone before they were read."""
        claims = [c for c in self.changes if "/owners/t/" in c.path and c.op == "create"]
        hidden = [claims[number].zxid for number in unread]
        log = [Seen(c, c.zxid, c.time_ms, c.zxid not in hidden) for c in self.changes]
        return tell_rebalances(log, "g", PACE)


def play_takeover() -> Play:
    play = Play()
    play.join("a", 5)
    play.claim(0, "a", 5)
    play.claim(1, "a", 5)
    play.wait(5000)
    play.join("b", 6)
    play.release(0)
    play.release(1)
    play.claim(0, "a", 5)
    play.wait(400)
    play.claim(1, "b", 6)
    play.wait(5000)
    return play


def test_members_come_and_crash() -> None:
    play = play_takeover()
    play.close_session(6)
    play.wait(200)
    play.release(0)
    play.claim(0, "a", 5)
    play.claim(1, "a", 5)
    play.wait(5000)
    play.close_session(5)
    first, second, crash, end = play.tell()
    assert (first.triggers[0].word, first.triggers[0].member) == ("member_joined", "a")
    assert (first.moved, first.reacquired, first.attempts) == (0, 0, 1)
    assert (second.moved, second.reacquired, second.left_unowned) == (1, 1, 0)
    assert second.unowned == {"t-0": 2, "t-1": 402}
    assert {step.word for step in crash.triggers} == {"session_ended"}
    assert (crash.moved, crash.reacquired, crash.outcome) == (1, 1, "settled")
    assert (end.left_unowned, len(end.after.members), end.outcome) == (2, 0, "settled")


def test_refused_claims_are_given_back() -> None:
    play = play_takeover()
    play.delete(f"{GROUP}/ids/b")
    play.release(0)
    for _ in range(3):
        play.claim(0, "a", 5)
        play.release(0)
        play.wait(500)
    play.wait(5000)
    play.close_session(6)
    *_, failed, end = play.tell()
    assert (failed.triggers[0].word, failed.outcome) == ("member_left", "failed")
    assert (failed.attempts, failed.left_unowned) == (3, 1)
    # The first was taken back within a millisecond; the others waited.
    assert [failed.count_conflicts(ms) for ms in (300, 600)] == [3, 1]
    assert end.triggers[0].word == "session_ended"


def test_a_topic_that_grows_and_one_that_is_only_written() -> None:
    play = play_takeover()
    play.set("/brokers/topics/t", play.describe(2))
    play.wait(5000)
    play.set("/brokers/topics/t", play.describe(3))
    play.claim(2, "b", 6)
    grown = play.tell()[2:]
    assert [each.triggers[0].word for each in grown] == ["partitions_added"]
    assert len(grown[0].after.expected) == 3


def test_who_names_a_topic_does_not_care_that_it_goes() -> None:
    play = play_takeover()
    play.delete("/brokers/topics/t")
    play.wait(5000)
    assert len(play.tell()) == 2
    play.create("/brokers/topics/t", play.describe(1))
    assert [step.word for step in play.tell()[2].triggers] == ["topic_changed"]


def test_a_wildcard_takes_topics_in_and_lets_them_go() -> None:
    play = Play()
    play.join("a", 5, "t.*")
    play.claim(0, "a", 5)
    play.claim(1, "a", 5)
    play.wait(5000)
    play.create("/brokers/topics/other", play.describe(1))
    play.delete("/brokers/topics/t")
    play.release(0)
    play.release(1)
    play.wait(5000)
    play.create("/brokers/topics/tt", play.describe(3))
    first, gone, came = play.tell()
    assert [step.word for step in first.triggers] == ["member_joined"]
    assert [(step.word, step.topic) for step in gone.triggers] == [("topic_matched", "t")]
    assert (gone.outcome, len(gone.after.expected)) == ("settled", 0)
    assert [(step.word, step.topic) for step in came.triggers] == [("topic_matched", "tt")]
    assert (came.outcome, came.left_unowned) == ("failed", 3)


def test_a_pause_that_is_long_enough_divides_two() -> None:
    for pause_ms, count in ((999, 1), (1000, 2)):
        play = Play()
        play.join("a", 5)
        play.claim(0, "a", 5)
        play.claim(1, "a", 5)
        play.wait(pause_ms)
        # Without a trigger, a millisecond later: it is a round more, or one of its own.
        play.release(0)
        assert len(play.tell()) == count


def test_a_trigger_that_finds_all_done_begins_another() -> None:
    play = play_takeover()
    play.close_session(6)
    play.release(0)
    play.claim(0, "a", 5)
    play.claim(1, "a", 5)
    play.wait(500)
    play.join("b", 7)
    play.join("c", 8)
    play.release(0)
    play.release(1)
    play.claim(0, "a", 5)
    play.claim(1, "b", 7)
    members = [(len(each.before.members), len(each.after.members)) for each in play.tell()]
    assert members == [(0, 1), (1, 2), (2, 1), (1, 3)]
