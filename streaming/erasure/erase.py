"""The whole erasure, in an order that may be cut off anywhere and begun again.

Events first, then the tables that are folded from them: made anew from what the events now say, so
that streamed and rebuilt stay the same. Then everything older goes, and the log. At the end all of
it is looked at once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow.fs

from delta_tables import reading
from delta_tables.catalog import TABLE_BY_NAME
from streaming.erasure.files import find_files
from streaming.erasure.kafka_log import FoundRecords, KafkaLog
from streaming.erasure.secret_values import SecretValues
from streaming.erasure.tables import count_rows, forget_past, mask_table
from streaming.fold.rules import Rules
from streaming.lake.lake import Lake
from streaming.lake.lease import hold_lease
from streaming.lake.progress import LakeProgress, read_progress
from streaming.lake.rewriting import open_directory
from streaming.rebuild import check_names, rebuild, refuse_ahead
from zklake.errors import LakeError, LogError
from zklake.events.topics import name_topics
from zklake.phrases import format_count

# Stands beside the lease from the first masked row until the tables are made anew.
PENDING = "_zklake_erase.pending"


@dataclass(frozen=True)
class EraseStep:
    """What was found or done in one place."""

    place: str
    says: str
    count: int


@dataclass(frozen=True)
class Cut:
    """What is to go from the log."""

    # Records before this one.
    offset: int = -1
    # How many of them hold a value.
    records: int = 0
    # Whether the tree topic must go.
    is_in_tree: bool = False


@dataclass(frozen=True)
class Erasure:
    """What to erase, and where. Without a log only the lake is done."""

    secrets: SecretValues
    lake: str
    cluster: str
    log: KafkaLog | None = None
    rules: Rules = field(default_factory=Rules)
    # Further files that are looked into, and not changed: by what they are.
    beside: Mapping[str, str] = field(default_factory=dict)

    @property
    def directory(self) -> str:
        """Where the tables of the cluster lie."""
        return f"{self.lake.rstrip('/')}/{self.cluster}"

    def survey(self) -> Iterator[EraseStep]:
        """What there is to erase; changes nothing."""
        self._refuse_nothing()
        for found in self._find_records():
            yield EraseStep(f"topic {found.topic}", "records", found.count)
        for name, delta in reading.open_tables(self.lake, self.cluster).items():
            if count := count_rows(delta, TABLE_BY_NAME[name], self.secrets):
                yield EraseStep(f"table {name}", "rows", count)
        count = sum(1 for _ in find_files(self.directory, self.secrets))
        yield EraseStep(f"files below {self.directory}", "files", count)
        yield from self._look_beside()

    def erase(self) -> Iterator[EraseStep]:
        """Do it; refuses before anything is changed where it could not be done to its end."""
        self._refuse_nothing()
        with hold_lease(self.lake, self.cluster):
            progress = read_progress(self.lake, self.cluster, name_topics(self.cluster).events)
            cut = self._plan_cut(progress)
            self._refuse_cut_off(progress)
            yield from self._mask()
            yield from self._rebuild()
            yield from self._forget_past()
            yield from self._cut_log(cut)
            yield from self._look_again()
        yield from self._look_beside()

    def _refuse_nothing(self) -> None:
        """A wrong address must not look like a value that is gone."""
        if not reading.open_tables(self.lake, self.cluster):
            raise LakeError(
                f"{self.directory} holds no tables: check --lake and --cluster, and that `zklake "
                "stream` has run for that cluster"
            )

    def _find_records(self) -> Iterator[FoundRecords]:
        if self.log is not None:
            for topic in self.log.topics:
                yield self.log.find(topic, self.secrets)

    def _plan_cut(self, progress: LakeProgress) -> Cut:
        """Refuse what would lose history."""
        if self.log is None:
            return Cut()
        events, tree = self._find_records()
        if tree.count:
            self.log.refuse_living_watcher()
        if not events.count:
            return Cut(is_in_tree=bool(tree.count))
        frame = self.log.find_frame(events.last)
        if frame is None:
            raise LogError(
                f"the value stands in {events.topic} up to offset {events.last}, and no complete "
                "look at the tree follows: deleting it would leave a log that nothing can begin "
                "with. See to it that the watcher no longer publishes the value "
                "(watcher.publish_config_keys, watcher.redact_paths, or change it in the cluster), "
                "have it publish a base frame (SIGUSR1, or `zklake watch --resnapshot`), let the "
                "stream write that, stop the stream, and run `zklake erase` again. For the lake "
                "alone: --lake-only"
            )
        if progress.offset is None or progress.offset <= frame[1]:
            at = "nothing" if progress.offset is None else f"offset {progress.offset - 1}"
            raise LakeError(
                f"{self.directory} holds the log up to {at}; what is to be deleted ends at "
                f"{frame[1]}. Run `zklake stream --once` first, then `zklake erase` again"
            )
        return Cut(frame[0], events.count, bool(tree.count))

    def _refuse_cut_off(self, progress: LakeProgress) -> None:
        if progress.log_id is not None:
            lake = Lake(self.lake, self.cluster)
            refuse_ahead(lake, check_names(()), progress.log_id, progress.seq)

    def _mask(self) -> Iterator[EraseStep]:
        tables = reading.open_tables(self.lake, self.cluster)
        files, root = open_directory(self.directory)

        def announce() -> None:
            with files.open_output_stream(f"{root}/{PENDING}") as pending:
                pending.write(b"tables must be made anew: zklake erase\n")

        for name, delta in tables.items():
            if count := mask_table(delta, TABLE_BY_NAME[name], self.secrets, announce):
                yield EraseStep(f"table {name}", "rows masked", count)

    def _rebuild(self) -> Iterator[EraseStep]:
        files, root = open_directory(self.directory)
        pending = f"{root}/{PENDING}"
        if files.get_file_info(pending).type != pyarrow.fs.FileType.File:
            return
        lake, names = Lake(self.lake, self.cluster), check_names(())
        topic = name_topics(self.cluster).events
        counts = rebuild(lake, names, topic, lambda _: None, rules=self.rules)
        files.delete_file(pending)
        yield EraseStep("tables", f"made anew: {len(counts)}, rows", sum(counts.values()))

    def _forget_past(self) -> Iterator[EraseStep]:
        gone = sum(map(forget_past, reading.open_tables(self.lake, self.cluster).values()))
        yield EraseStep("tables", "old files removed", gone)

    def _cut_log(self, cut: Cut) -> Iterator[EraseStep]:
        if self.log is None:
            return
        if cut.records:
            self.log.delete_before(cut.offset)
            says = f"records up to offset {cut.offset - 1} deleted; with the value"
            yield EraseStep(f"topic {self.log.topics.events}", says, cut.records)
        if cut.is_in_tree:
            self.log.delete_tree()
            yield EraseStep(
                f"topic {self.log.topics.tree}", "deleted; a starting watcher makes it", 1
            )

    def _look_again(self) -> Iterator[EraseStep]:
        left = [
            f"{self.directory}/{file.path}" for file in find_files(self.directory, self.secrets)
        ]
        if self.log is not None and self.log.find(self.log.topics.events, self.secrets).count:
            left.append(f"topic {self.log.topics.events}")
        if left:
            shown = ", ".join(left[:5])
            raise LakeError(
                f"the value is still in {format_count(len(left), 'place')}: {shown}. Somebody "
                "wrote it meanwhile, or the file is not ours: remove it, and run `zklake erase` "
                "again"
            )
        yield EraseStep("looked again", "places with the value", 0)

    def _look_beside(self) -> Iterator[EraseStep]:
        for what, path in self.beside.items():
            files, place = open_directory(path)
            if files.get_file_info(place).type != pyarrow.fs.FileType.File:
                continue
            with files.open_input_file(place) as file:
                is_held = self.secrets.occur_in_bytes(file.read())
            if is_held:
                yield EraseStep(
                    f"{what} {path}", "holds the value, and is not changed; see docs", 1
                )
