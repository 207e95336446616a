"""The prompt of `zklake sql`: lines in, rows out, with history and completion."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import PostgresLexer  # type: ignore[import-untyped]  # ships no types

from zklake.cli.answers import Form
from zklake.cli.asking import Scope
from zklake.cli.completion import COMMANDS, suggest
from zklake.errors import QueryError, ZklakeError
from zklake.logs import escape
from zklake.spelling import did_you_mean

_HELP = """\
A query ends with ; or with an empty line: SELECT * FROM broker_membership WHERE is_open;
Tab completes tables, columns and keywords; arrow keys recall earlier lines; Ctrl-C stops a query.
A result that does not fit the screen opens in $PAGER (less): arrow keys scroll, q quits.
Set PAGER=cat to print everything."""
# As other prompts call them.
_ALIASES = {
    "\\q": "exit",
    "\\quit": "exit",
    "quit": "exit",
    ".quit": "exit",
    ".exit": "exit",
    "\\?": "help",
    "\\h": "help",
    "\\help": "help",
    "?": "help",
    ".help": "help",
    "\\d": "describe",
    "\\d+": "describe",
    "desc": "describe",
    ".schema": "describe",
    ".describe": "describe",
    "\\dt": "tables",
    "show tables": "tables",
    ".tables": "tables",
}
# No query begins so.
_COMMAND_SIGNS = (".", "\\")
_SHOWN_COLUMNS = 60


class Prompt:
    """One sitting of a person who asks."""

    def __init__(self, scope: Scope, form: Form, session: PromptSession[str] | None = None) -> None:
        self._scope, self._form = scope, form
        self._session = session or open_session()

    def run(self) -> None:
        """Read and answer until the person leaves."""
        clusters = ", ".join(lake.cluster for lake in self._scope.lakes)
        print(f"zklake: {clusters}. `tables` lists tables, `help` shows more, `exit` quits.")
        while True:
            try:
                text = self._session.prompt("zklake> ")
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                return  # the terminal is gone
            if not self.answer(text):
                return

    def answer(self, text: str) -> bool:
        """Do what a line says; False when it says to leave."""
        try:
            return self._dispatch(text.strip().rstrip(";").strip())
        except ZklakeError as error:
            print(f"error: {escape(str(error))}", file=sys.stderr)
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
        return True

    def _dispatch(self, text: str) -> bool:
        word, rest = split_command(text)
        if word == "exit":
            return False
        if word == "help":
            print(_HELP)
            print(*(f"{name:<10}{says}" for name, says in COMMANDS.items()), sep="\n")
        elif word == "tables" or (word == "describe" and not rest):
            from zklake.cli.tables import print_tables

            print_tables(self._scope.lakes, self._form)
        elif word == "describe":
            from zklake.cli.describe import print_description

            print_description(rest, self._form)
        elif word == "at":
            self._show_moment(rest)
        elif text.startswith(_COMMAND_SIGNS):
            name = text.split(maxsplit=1)[0]
            near = did_you_mean(name, (*_ALIASES, *COMMANDS))
            raise QueryError(f"no command {name!r}{near or '; help lists them'}")
        elif text:
            from zklake.cli.sql import print_query

            print_query(self._scope, text, self._form)
        return True

    def _show_moment(self, rest: str) -> None:
        from zklake.cli.at import print_moment

        time, table, condition = [*rest.split(maxsplit=2), "", "", ""][:3]
        wanted = None if self._form == "table" else "*"
        print_moment(self._scope, time, table, condition, self._form, wanted=wanted)


def split_command(text: str) -> tuple[str, str]:
    """(command, the rest) of a line; no command when it is a query."""
    plain = " ".join(text.split())
    if plain.lower() in _ALIASES:
        return _ALIASES[plain.lower()], ""
    word, _, rest = plain.partition(" ")
    word = _ALIASES.get(word.lower(), word.lower())
    return (word, rest) if word in COMMANDS else ("", plain)


def is_complete(text: str) -> bool:
    """Whether Enter sends the line: a command, a query with its ;, or an empty line after it."""
    stripped = text.strip()
    ends = stripped.endswith(";") or bool(re.search(r"\n\s*$", text))
    ends = ends or stripped.startswith(_COMMAND_SIGNS)
    return not stripped or ends or bool(split_command(stripped)[0])


def open_session(**options: Any) -> PromptSession[str]:
    """A session with history, completion and colours; options are prompt_toolkit's."""
    bindings = KeyBindings()

    @bindings.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return PromptSession(
        history=_open_history(),
        completer=_Completer(),
        complete_while_typing=False,
        multiline=True,
        prompt_continuation="   ...> ",
        key_bindings=bindings,
        lexer=PygmentsLexer(PostgresLexer),
        **options,
    )


def _open_history() -> History:
    """What was asked before, kept for this person alone."""
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    path = Path(state).expanduser() / "zklake" / "sql_history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except (OSError, RuntimeError):
        return InMemoryHistory()
    return FileHistory(str(path))


class _Completer(Completer):
    def get_completions(self, document: Document, _: CompleteEvent) -> Iterable[Completion]:
        return _complete(document.text_before_cursor, document.text_after_cursor)


def _complete(before: str, after: str) -> Iterator[Completion]:
    started = re.search(r"\w*$", before)
    length = len(started[0]) if started else 0
    for word, says in suggest(before, after):
        yield Completion(word, start_position=-length, display_meta=says[:_SHOWN_COLUMNS])
