"""A page as a browser reads it: what in it could run, and what it shows."""

from __future__ import annotations

from html.parser import HTMLParser

_LINKS = ("href", "src", "action", "formaction", "data", "hx-get", "data-live", "xlink:href")
_FORBIDDEN = ("iframe", "object", "embed", "base", "style", "frame", "applet")


class Read(HTMLParser):
    """`dangers` must stay empty; `shown` are its texts and the values of its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.dangers: list[str] = []
        self.shown: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        is_data = given.get("type") == "application/json"
        if tag in _FORBIDDEN:
            self.dangers.append(tag)
        if tag == "script" and not is_data and not given.get("src", "").startswith("/static/"):
            self.dangers.append(f"script {given}")
        if tag == "meta" and "http-equiv" in given:
            self.dangers.append(f"meta {given}")
        for name, value in given.items():
            is_ours = value.startswith(("/", "#", "?")) and not value.startswith("//")
            if name.startswith("on") or name in ("style", "srcdoc"):
                self.dangers.append(f"{tag} {name}={value}")
            if name in _LINKS and value and not is_ours:
                self.dangers.append(f"{tag} {name}={value}")
        self.shown += given.values()

    def handle_data(self, data: str) -> None:
        self.shown.append(data)

    def shows(self, name: str) -> bool:
        """Whether the name stands somewhere, but for how its white space is laid out."""
        wanted = "".join(name.split())
        return any(wanted in "".join(text.split()) for text in ["".join(self.shown), *self.shown])
