"""What every group of settings has in common: nothing unknown, nothing changed, no value shown."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Group(BaseModel):
    """Settings that belong together; a table of the TOML file."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True
    )
