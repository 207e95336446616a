"""All subjects of a cluster, by group, and the marks that wait for the next round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from streaming.fold.changes import GroupKey, PartitionKey
from streaming.fold.lag.place import Places
from streaming.fold.lag.subject import Commit, Group, Subject
from streaming.fold.standing import Standing


@dataclass
class Subjects:
    """Who is or may become a row of offset_lag.

    Facts change only with rounds. What happens to owners and members between two of them is marked:
    since when nobody is there, or None where somebody is; of several the last counts.
    """

    places: Places
    groups: dict[GroupKey, Group] = field(default_factory=dict)
    # Those whose commits the next round must look at.
    waiting: dict[Subject, None] = field(default_factory=dict)
    _unowned_marks: dict[Subject, int | None] = field(default_factory=dict)
    _left_marks: dict[Subject, int | None] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Subject]:
        return (each for group in self.groups.values() for each in group.subjects.values())

    def find(self, group: GroupKey, key: PartitionKey) -> Subject | None:
        """A subject, if it is known."""
        known = self.groups.get(group)
        return None if known is None else known.subjects.get(key)

    def get(self, group: GroupKey, key: PartitionKey, standing: Standing) -> Subject:
        """A subject, made when missing."""
        known = self.groups.get(group)
        if known is None:
            subscribed = standing.find_subscribed(group)
            known = self.groups[group] = Group(group, subscribed, standing.tells_owners(group))
        if key.topic not in known.live:
            known.live[key.topic] = bool(known.subscribed.find_read((key.topic,)))
        subject = known.subjects.get(key)
        if subject is None:
            subject = known.subjects[key] = Subject(known, self.places.get(*key))
            subject.place.subjects.append(subject)
            self._pair(subject, key)
        return subject

    def _pair(self, subject: Subject, key: PartitionKey) -> None:
        coordinator, group_id = subject.group.key
        other = GroupKey("zookeeper" if coordinator == "kafka" else "kafka", group_id)
        twin = self.find(other, key)
        if twin is not None:
            subject.twin, twin.twin = twin, subject

    def remove(self, subject: Subject) -> None:
        """Forget a subject."""
        key = PartitionKey(subject.place.topic, subject.place.partition)
        subject.place.subjects.remove(subject)
        del subject.group.subjects[key]
        if not subject.group.subjects:
            del self.groups[subject.group.key]
        if subject.twin is not None:
            subject.twin.twin, subject.twin.version = None, -1
        self.waiting.pop(subject, None)
        self._unowned_marks.pop(subject, None)
        self._left_marks.pop(subject, None)

    def note_owner(
        self, group: GroupKey, key: PartitionKey, standing: Standing, word: str, at_ms: int
    ) -> None:
        """An owner came, changed or went."""
        owner = standing.owners.get(group, {}).get(key)
        subject = self.find(group, key)
        if subject is None:
            if owner is None:
                return
            subject = self.get(group, key, standing)
        if subject.has_owner and owner is None:
            subject.gone_by = word
        was_unowned = subject.is_unowned
        subject.has_owner = owner is not None
        subject.owner = None if owner is None else owner.owner
        subject.owner_member_id = None if owner is None else owner.owner_member_id
        subject.version = -1
        self._mark_unowned(subject, was_unowned, at_ms)

    def _mark_unowned(self, subject: Subject, was_unowned: bool, at_ms: int) -> None:
        if subject.is_unowned != was_unowned:
            self._unowned_marks[subject] = None if was_unowned else at_ms

    def note_members(self, group: GroupKey, standing: Standing, at_ms: int) -> None:
        """Members of a group came, went or subscribed anew; once per event, after its owners."""
        known = self.groups.get(group)
        if known is None:
            return
        now = standing.find_subscribed(group), standing.tells_owners(group)
        if now == (known.subscribed, known.tells_owners):
            return
        former = [(each, each.is_live, each.is_unowned) for each in known.subjects.values()]
        known.subscribed, known.tells_owners = now
        topics = {key.topic for key in known.subjects}
        read = known.subscribed.find_read(topics)
        known.live = {topic: topic in read for topic in topics}
        for subject, was_live, was_unowned in former:
            if subject.is_live != was_live:
                self._left_marks[subject] = at_ms if was_live else None
            self._mark_unowned(subject, was_unowned, at_ms)

    def note_topic(self, topic: str, incarnation: int | None) -> None:
        """A topic came to stand: commits that found none are taken for its own."""
        for place in self.places.of(topic):
            for subject in place.subjects:
                self.waiting[subject] = None
                commits: list[Commit | None] = [subject.commit, *subject.waiting]
                for commit in commits:
                    if commit is not None and commit.incarnation is None:
                        commit.incarnation = incarnation

    def apply_marks(self) -> None:
        """Make the marks facts; of subjects without a row there are none."""
        for subject, unowned_ms in self._unowned_marks.items():
            subject.version = -1
            if subject.facts is not None:
                subject.facts.unowned_ms = unowned_ms
        for subject, left_ms in self._left_marks.items():
            subject.version = -1
            if subject.facts is not None:
                subject.facts.left_ms, subject.facts.is_peopled = left_ms, True
        self.drop_marks()

    def drop_marks(self) -> None:
        """Forget the marks: the rows have it all."""
        self._unowned_marks.clear()
        self._left_marks.clear()
