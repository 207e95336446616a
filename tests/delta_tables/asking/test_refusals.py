from __future__ import annotations

import pytest

from delta_tables.asking.refusals import explain_failure, hide_files, is_out_of_memory

SQL = "SELECT topic,\n  clster FROM partition_state"


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        (
            "Schema error: No field named clster. Did you mean 'partition_state.cluster'?\n"
            "Valid fields are partition_state.cluster, partition_state.topic.",
            "line 2, column 3: no column 'clster'; did you mean cluster?",
        ),
        (
            "Schema error: No field named x.y.\nValid fields are a.b.",
            "no column 'x.y'; `zklake describe TABLE` lists the columns of a table or view",
        ),
        (
            "Optimizer rule 'simplify_expressions' failed\ncaused by\nArrow error: Parser error: "
            "Error parsing timestamp from 'x': timestamp must contain at least 10 characters",
            "Error parsing timestamp from 'x': timestamp must contain at least 10 characters",
        ),
        (
            'SQL error: ParserError("Expected: an expression, found: EOF at Line: 1, Column: 8")',
            "this is not SQL: line 1, column 8: expected an expression, found EOF",
        ),
        (
            "Error during planning: table 'datafusion.public.topics' not found",
            "table 'topics' is not in this lake yet: `zklake stream` makes it",
        ),
        (
            "Error during planning: Column in SELECT must be in GROUP BY or an aggregate function: "
            'While expanding wildcard, column "topic" must appear in the GROUP BY clause or must',
            "line 1, column 8: 'topic' must stand in GROUP BY or in an aggregate",
        ),
        (
            "Schema error: Ambiguous reference to unqualified field topic",
            "several tables have 'topic': say which, as in t.topic",
        ),
        ("External error: Arrow error: Divide by zero error", "Divide by zero error"),
        ("Internal error: odd.\nThis issue was likely caused by a bug in DataFusion", "odd."),
        ("", "DataFusion gave no reason"),
        ("x" * 400, "x" * 300 + "…"),
    ],
)
def test_a_failure_becomes_one_plain_sentence(said: str, plain: str) -> None:
    assert explain_failure(said, SQL) == plain


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        ("ownership_history o JOIN partition_state AS p USING (topic)", "o.topic or p.topic"),
        ("topics\nLEFT JOIN topics AS t ON true", "topics.topic or t.topic"),
        ("topics JOIN partition_state USING (topic)", "topics.topic or partition_state.topic"),
    ],
)
def test_a_name_that_several_tables_have_is_offered_with_each(sources: str, names: str) -> None:
    said = "Schema error: Ambiguous reference to unqualified field topic"
    sql = f"SELECT o.topic FROM {sources} WHERE topic = 'a'"
    assert explain_failure(said, sql) == f"several tables have 'topic': write {names}"


def test_wanting_too_much_memory_is_known_by_its_words() -> None:
    assert is_out_of_memory("Resources exhausted: Additional allocation failed")
    assert is_out_of_memory("The used disk space during the spilling process has exceeded")
    assert not is_out_of_memory("Divide by zero error")


def test_where_files_lie_is_left_out() -> None:
    said = "Object at location /data/lake/kafka/topics/part-1.snappy.parquet not found: /data/lake"
    assert hide_files(said, ["/data/lake"]) == "Object at location … not found: …"
    plan = "file_groups={2 groups: [[a b/x.parquet, y.parquet:0..9], [z.parquet]]}, projection=[a]"
    assert hide_files(plan, []) == "file_groups={2 groups}, projection=[a]"
