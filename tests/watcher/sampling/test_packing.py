from __future__ import annotations

from watcher.sampling.packing import RECORD_BYTES, pack_commits, pack_ends, pack_state
from zklake.events.envelope import encode
from zklake.events.samples import Commit, GroupState, LogEnd, Member, Round, TopicPartitions

ROUND = Round(7)


def test_a_round_without_news_is_one_record() -> None:
    (only,) = pack_ends([], ROUND)
    assert only.partitions == ()
    assert only.round == ROUND


def test_many_partitions_make_a_few_records_and_the_last_has_the_round() -> None:
    news = [LogEnd("t" * 249, p, 1, 0, 2**62) for p in range(24_000)]
    packed = pack_ends(news, ROUND)
    assert [end for each in packed for end in each.partitions] == news
    assert [each.round for each in packed[:-1]] == [None] * (len(packed) - 1)
    assert packed[-1].round == ROUND
    assert all(len(encode(each)) < RECORD_BYTES * 1.1 for each in packed)
    assert len(packed) < 30


def test_the_longest_names_fit() -> None:
    commits = [Commit("g" * 32_000, "t" * 249, p, 1) for p in range(100)]
    packed = pack_commits(commits)
    assert [commit for each in packed for commit in each.commits] == commits
    assert all(len(encode(each)) < RECORD_BYTES * 1.1 for each in packed)
    assert pack_commits([]) == []


TOPICS = tuple(f"{n:0200}" for n in range(10))


def make_group(count: int) -> GroupState:
    members = (
        Member(f"m{n}", subscription=TOPICS, assignment=(TopicPartitions("t", (n,)),))
        for n in range(count)
    )
    return GroupState("g", generation=4, members=tuple(members), member_count=count)


def test_a_group_that_does_not_fit_loses_its_subscriptions_first() -> None:
    small, large = make_group(10), make_group(1000)
    assert pack_state(small) is small
    packed = pack_state(large)
    assert len(encode(packed)) <= RECORD_BYTES
    assert packed.members is not None
    assert [member.assignment for member in packed.members] == [
        member.assignment for member in large.members or ()
    ]
    assert {member.subscription for member in packed.members} == {None}


def test_a_group_that_does_not_fit_then_loses_its_members_but_not_their_number() -> None:
    packed = pack_state(make_group(10_000))
    assert (packed.members, packed.member_count, packed.generation) == (None, 10_000, 4)
