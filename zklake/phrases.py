"""Values of columns as phrases for people. The values themselves stay what others build on."""

from __future__ import annotations

from zklake.old_words import read_word

_ENDS = {
    "session_ended": "session ended",
    "migrated": "migrated to KRaft",
    "unreadable": "data became unreadable",
    "resync": "missing after a resync",
    "in_sync": "back in sync",
    "progress": "moved on",
    "emptied": "nothing left to read",
}
# With the member or topic that triggered it, and without one.
_TRIGGERS = {
    "member_joined": ("{} joined", "a member joined"),
    "member_left": ("{} left", "a member left"),
    "session_ended": ("session of {} ended", "a session ended"),
    "partitions_added": ("partitions added to {}", "partitions added"),
    "topic_changed": ("topic {} changed", "a topic changed"),
    # It came or went.
    "topic_matched": ("matching topics changed: {}", "matching topics changed"),
    "owner_released": ("{} released a partition", "a partition was released"),
    "unknown": ("trigger unknown", "trigger unknown"),
}
# How somebody left, where that is known.
_EXITS = {"clean": "stopped cleanly", "crashed": "crashed"}
_TRIGGER_KINDS = {"session_ended": "session ended", "owner_released": "partition released"}
# What kept a group from reading: with who it was, and without.
_HELD = {
    "leader_away": ("no leader (broker {})", "no leader"),
    "unowned": ("no owner after {}", "no owner"),
    "owner_crashed": ("{} crashed", "its owner crashed"),
    "owner_stuck": ("{} does not move on", "its owner does not move on"),
    "unknown": ("not known", "not known"),
}
_COORDINATORS = {"zookeeper": "ZooKeeper", "kafka": "Kafka"}
_OPERATIONS = {
    "preferred_election": "preferred leader election",
    "topic_deletion": "topic deletion",
}
_GAPS = {
    "restart": "watcher restarted",
    "disconnected": "disconnected from ZooKeeper",
    "session_expired": "ZooKeeper session expired",
    "history_reset": "ZooKeeper was restored from an older state",
    "model_lost": "watcher state lost",
    "coalesced": "changes coalesced by one-shot watches",
    "event_lost": "watch event lost",
    "seq_hole": "records missing from the log",
    "seq_repeat": "repeated records in the log",
    "txnlog_hole": "transactions missing from ZooKeeper's files",
    "txnlog_end": "ZooKeeper's files end",
}
_IRREGULAR = {"batch": "batches"}


def format_count(count: int, noun: str) -> str:
    """`1 partition`, `2 partitions`, `1,200 partitions`."""
    return f"{count:,} {inflect(count, noun)}"


def inflect(count: int, noun: str) -> str:
    """The noun alone, as it follows that count."""
    return noun if count == 1 else _IRREGULAR.get(noun, f"{noun}s")


def format_word(value: str) -> str:
    """Any value that is one of a few words: `member_joined` as `member joined`."""
    return value.replace("_", " ")


def format_end(ended_by: str | None, exit_word: str | None = None) -> str:
    """Why a row ended, and how somebody left, if that is known; nothing while it has not."""
    if ended_by is None:
        return ""
    word = read_word(ended_by)
    how = _EXITS.get(exit_word or "")
    return _ENDS.get(word, format_word(word)) + (f", {how}" if how else "")


def format_trigger(
    trigger: str,
    member: str | None = None,
    topic: str | None = None,
    exit_word: str | None = None,
) -> str:
    """What began a rebalance: `readers_c joined`; of a session's end also how its member left."""
    trigger = read_word(trigger)
    word = format_word(trigger)
    if trigger == "session_ended" and exit_word in _EXITS:
        return f"{member or 'a member'} {_EXITS[exit_word]}"
    named, nameless = _TRIGGERS.get(trigger, (f"{word}: {{}}", word))
    who = member or topic
    # A name may hold braces: it is put in, never read as a format.
    return named.replace("{}", who) if who else nameless


def format_held(held: str, member: str | None = None, broker_id: int | None = None) -> str:
    """What kept a group from reading: `readers_c crashed`."""
    named, nameless = _HELD.get(held, (format_word(held), format_word(held)))
    who = str(broker_id) if broker_id is not None else member
    return named.replace("{}", who) if who else nameless


def format_trigger_kind(trigger: str) -> str:
    """A trigger as a heading, whoever it was: `Member joined`."""
    trigger = read_word(trigger)
    return _TRIGGER_KINDS.get(trigger, format_word(trigger)).capitalize()


def format_coordinator(coordinator: str) -> str:
    """Where a group's offsets are stored."""
    return _COORDINATORS.get(coordinator, coordinator)


def format_operation(operation: str) -> str:
    """What an operator asked the controller to do; what follows the operation's name stays."""
    word, space, rest = operation.partition(" ")
    return _OPERATIONS.get(word, format_word(word)) + space + rest


def format_gap(reason: str | None) -> str:
    """Why changes could pass unseen."""
    return "reason unknown" if reason is None else _GAPS.get(reason, format_word(reason))


def format_action(what: str) -> str:
    """What became of a setting or an operation."""
    return "requested" if what == "asked for" else format_end(what)
