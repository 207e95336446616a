"""`--help` of a command with commands: what each does, as a whole sentence."""

from __future__ import annotations

from inspect import cleandoc
from typing import Any

from typer.core import TyperGroup


class Listing(TyperGroup):
    """The list as Click writes it, but that cuts a sentence at the end of the line."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Name and first paragraph of each command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._say(ctx, name)) for name in self.list_commands(ctx)])

    def _say(self, ctx: Any, name: str) -> str:
        command = self.get_command(ctx, name)
        return cleandoc((command and command.help) or "").partition("\n\n")[0]
