"""Properties are judged by what they find, not by how long a shared machine takes for one."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")
