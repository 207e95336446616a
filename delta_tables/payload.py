"""How a znode's data becomes the payload of a row, in SQL, and what is wrong with it if it cannot.

SQL reads the plain form, which is nearly everything. Whatever looks otherwise (0.7's text, escaped
regexes, compressed values, a hostile type) is read by the contract's own decoders
(zklake.events.payloads) before, and comes here as the JSON that they make of it: `rewritten`.
"""

from __future__ import annotations

from dataclasses import dataclass

DECODE_ERRORS: dict[str, str] = {
    "no_data": "empty, where the znode must say something",
    "not_utf8": "the bytes are no text",
    "unknown_version": "JSON of a version that Kafka never wrote here",
    "malformed": "none of the forms that Kafka ever wrote here",
}

_CORRUPT = "corrupt_record"
# As strict as the contract: by default Spark also takes 'single quotes' and NaN.
_STRICT = (
    f"map('columnNameOfCorruptRecord', '{_CORRUPT}', 'allowSingleQuotes', 'false', "
    "'allowNonNumericNumbers', 'false')"
)
# One object with a small version, without escapes and nulls (to Spark null is the same as absent);
# after a } JSON has only , } or ].
_PLAIN_JSON = (
    r"""data RLIKE '(?s)^\\{.*"version"\\s*:\\s*[0-9]\\s*[,}].*$' AND endswith(data, '}') """
    r"""AND NOT contains(data, '\\') AND NOT contains(data, 'null') """
    r"""AND NOT data RLIKE '\\}\\s*[^,}\\]\\s]'"""
)

# In a SQL literal; possessive, so that the look-ahead after it cannot be dodged.
_COLON = r"\\s*+:\\s*+"
_STRING = r'"[^"]*+"\\s*+'
_STRING_LIST = (
    rf"(\\[\\s*+({_STRING},?\\s*+)*+\\]|\\{{\\s*+({_STRING}:\\s*+{_STRING},?\\s*+)*+\\}})"
)


@dataclass(frozen=True)
class Payload:
    """The fields of the JSON with their types, and which of its values are plain."""

    fields: str
    versions: tuple[int, ...] = (1,)
    # Fields without which the data is of another form.
    names: tuple[str, ...] = ()
    # Fields that hold a string: Spark would take any other type for text, too.
    strings: tuple[str, ...] = ()
    # Fields that hold a list or a map of strings, for the same reason.
    string_lists: tuple[str, ...] = ()
    # SQL over `data`, for kinds that are not JSON: the plain form, and the JSON that says the same.
    is_plain_text_sql: str | None = None
    text_json_sql: str | None = None
    # Kinds that may be empty, and then say nothing.
    empty_kinds: tuple[str, ...] = ()
    # SQL over `payload`: something that its version must have is not there.
    is_malformed_sql: str = "false"

    @property
    def is_plain_sql(self) -> str:
        """SQL over an event: SQL can read its data, or there is none to read."""
        plain = self.is_plain_text_sql or _PLAIN_JSON
        for name in self.names:
            plain += f""" AND contains(data, '"{name}"')"""
        if self.strings:
            names = "|".join(self.strings)
            plain += f""" AND NOT data RLIKE '"({names})"\\\\s*:\\\\s*[^"\\\\s]'"""
        if self.string_lists:
            names = "|".join(self.string_lists)
            plain += f""" AND NOT data RLIKE '"({names})"{_COLON}(?!{_STRING_LIST})'"""
        return f"(data_zlib_b64 IS NULL AND (data IS NULL OR data = '' OR {plain}))"

    @property
    def read_sql(self) -> str:
        """SQL: the payload, from `rewritten` where there is one, else from `data`."""
        json = f"coalesce(rewritten, {self.text_json_sql or 'data'})"
        return f"from_json({json}, 'version INT, {self.fields}, {_CORRUPT} STRING', {_STRICT})"

    @property
    def _empty_sql(self) -> str:
        kinds = ", ".join(f"'{kind}'" for kind in self.empty_kinds)
        return f"IF(kind IN ({kinds}), NULL, 'no_data')" if kinds else "'no_data'"

    @property
    def error_sql(self) -> str:
        """SQL over `payload` and the event: the word for what is wrong, or null."""
        known = ", ".join(str(version) for version in self.versions)
        return f"""CASE
            WHEN rewrite_error IS NOT NULL THEN rewrite_error
            WHEN rewritten IS NOT NULL THEN NULL
            WHEN coalesce(data, data_b64, data_zlib_b64) IS NULL THEN NULL
            WHEN data IS NULL THEN 'not_utf8'
            WHEN data = '' THEN {self._empty_sql}
            WHEN payload.version NOT IN ({known}) THEN 'unknown_version'
            WHEN payload IS NULL OR payload.{_CORRUPT} IS NOT NULL OR payload.version IS NULL
                OR coalesce({self.is_malformed_sql}, true) THEN 'malformed'
            END"""


def is_bad_millis(sql: str) -> str:
    """SQL: a timestamp that is neither absent nor a decimal, as a string or a number."""
    return rf"coalesce(NOT {sql} RLIKE '^-?[0-9]{{1,18}}\\z', false)"
