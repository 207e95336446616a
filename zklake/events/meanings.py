"""What the contract's words and fields mean, read from the comments beside them in its source.

So the documentation cannot say something else than the code. Only docs.py needs it.
"""

from __future__ import annotations

import ast
import inspect
import io
import tokenize
from types import ModuleType

import msgspec


def literal_meanings(module: ModuleType, name: str) -> dict[str, str]:
    """Each word of a module's Literal, with the comment on its line."""
    source = inspect.getsource(module)
    comments = _comments(source)
    return {
        word.value: comments.get(word.lineno, "")
        for statement in ast.parse(source).body
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name
        for word in ast.walk(statement.value)
        if isinstance(word, ast.Constant) and isinstance(word.value, str)
    }


def field_meanings(struct: type[msgspec.Struct]) -> dict[str, str]:
    """Each field of a struct, with the comment above it."""
    source = inspect.getsource(struct)
    comments = _comments(source)
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.ClassDef)
    return {
        field.target.id: _comment_above(field.lineno, comments)
        for field in definition.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    }


def _comment_above(line: int, comments: dict[int, str]) -> str:
    lines: list[str] = []
    while (line := line - 1) in comments:
        lines.insert(0, comments[line])
    return " ".join(lines)


def _comments(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        token.start[0]: token.string.lstrip("# ")
        for token in tokens
        if token.type == tokenize.COMMENT
    }
