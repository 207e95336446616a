"""Groups asked for by an AdminClient, where `__consumer_offsets` may not be read.

A thread of its own polls, through a process that may die. Many groups take long: docs/operations.md
says what that means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Event, Lock, Thread
from typing import Any

from watcher.log.clients import admin_config
from watcher.sampling.ends import OFFSETS_TOPIC
from watcher.sampling.group_questions import GroupQuestions
from watcher.sampling.polled import Polled, PolledGroups
from watcher.sampling.thinning import Taken
from zklake.events.samples import GroupReading
from zklake.name_patterns import Names

# Groups in one describe request, and requests for offsets under way at a time.
_GROUPS_AT_A_TIME = 50
_NOTHING = Taken([], [])


class GroupPoll:
    """Asks for all groups again and again; what it comes to is taken by the sampler."""

    def __init__(
        self,
        bootstrap: str,
        client: Mapping[str, Any],
        groups: Names,
        last_seq: Callable[[], int],
        *,
        interval_s: float,
        because: str,
    ) -> None:
        self._questions = GroupQuestions(admin_config(bootstrap, client))
        self._groups, self._interval_s = groups, interval_s
        self._last_seq, self._since_seq = last_seq, last_seq()
        self._because = because
        self._trouble: str | None = "not asked yet"
        self._said = PolledGroups()
        self._lock = Lock()
        self._ready: list[Taken] = []
        self._has_asked = self._is_complete = False
        self._stop = Event()
        self._thread = Thread(target=self._run, name="group-poll", daemon=True)
        self._thread.start()

    def take(self) -> tuple[Taken, GroupReading]:
        """What the last poll came to, and how far that can be trusted."""
        with self._lock:
            ready, self._ready = self._ready, []
            self._is_complete |= self._has_asked
            reasons = (f"{OFFSETS_TOPIC} cannot be read: {self._because}", self._trouble)
            reading = GroupReading(
                source="admin_api",
                complete_since_seq=self._since_seq if self._is_complete else None,
                reason="; ".join(reason for reason in reasons if reason),
            )
        return (ready[0] if ready else _NOTHING), reading

    def emit_all(self) -> None:
        """The next complete poll is said whole."""
        with self._lock:
            self._said = PolledGroups()
            self._ready, self._has_asked, self._is_complete = [], False, False
            self._since_seq = self._last_seq()

    def close(self) -> None:
        """End the thread; a request under way is not awaited."""
        self._stop.set()
        self._questions.close()
        self._thread.join(0.5)
        self._questions.renew()

    def _run(self) -> None:
        while not self._stop.is_set():
            # Nothing is compared before what was found last has been taken: memory stays bounded.
            if not self._ready:
                try:
                    self._poll()
                except Exception as error:
                    # Whatever it was: groups are unknown for a while, and everything else goes on.
                    self._trouble = str(error)
            self._stop.wait(self._interval_s)

    def _poll(self) -> None:
        said = self._said
        listed = self._questions.list_groups()
        # A broker that did not answer hides the groups that it coordinates.
        errors = listed.errors
        ids = [each for each in listed.group_ids if self._groups.holds(each)]
        answers: dict[str, Polled] = {}
        for part in _cut(sorted(ids)):
            if self._stop.is_set():
                return
            answers |= self._questions.ask_groups(part)
        silent = [each for each, answer in answers.items() if None in answer]
        taken = said.compare(answers, is_whole=not errors)
        with self._lock:
            if said is not self._said:
                return  # all is to be said anew, and this is only what was news
            self._ready = [taken]
            self._trouble = errors[0] if errors else None
            if silent:
                self._trouble = f"{len(silent)} groups did not answer"
            self._has_asked = not errors and not silent
        if silent:
            self._questions.renew()  # not under the lock: the sampler takes what is ready by it


def _cut(group_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(group_ids), _GROUPS_AT_A_TIME):
        yield group_ids[start : start + _GROUPS_AT_A_TIME]
