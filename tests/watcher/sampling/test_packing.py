from __future__ import annotations

from watcher.sampling.packing import RECORD_BYTES, pack_commits, pack_ends, pack_state
from zklake.events.envelope import encode
from zklake.events.samples import Commit, GroupState, LogEnd, Member, Round

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


def test_a_group_that_does_not_fit_loses_its_members_but_not_their_number() -> None:
    members = tuple(Member(f"m{n}", subscription=("t" * 200,) * 10) for n in range(1000))
    small = GroupState("g", members=members[:10], member_count=10)
    assert pack_state(small) is small
    large = pack_state(GroupState("g", generation=4, members=members, member_count=1000))
    assert (large.members, large.member_count, large.generation) == (None, 1000, 4)
