from __future__ import annotations

import pytest

from zklake.supervision.restart_policy import End, Restart, RestartPolicy, explain_code, judge

POLICY = RestartPolicy(
    most=3, window_s=60, first_wait_s=1, longest_wait_s=3, final_codes=frozenset({2, 9})
)


def test_waits_double_up_to_the_longest() -> None:
    deaths = [100.0, 101.0, 103.0]
    verdicts = [judge(POLICY, deaths[:count], 1) for count in (1, 2, 3)]
    assert verdicts == [Restart(1.0, 1), Restart(2.0, 2), Restart(3.0, 3)]


def test_one_too_many_within_the_window_ends_the_run() -> None:
    verdict = judge(POLICY, [100.0, 101.0, 103.0, 159.9], -9)
    assert isinstance(verdict, End)
    assert "number 4 within 1 minutes" in verdict.why


def test_what_lies_before_the_window_is_forgotten() -> None:
    assert judge(POLICY, [100.0, 101.0, 103.0, 160.0], 1) == Restart(3.0, 3)
    assert judge(POLICY, [100.0, 101.0, 103.0, 900.0], 1) == Restart(1.0, 1)


@pytest.mark.parametrize("code", [2, 9])
def test_a_final_code_ends_the_run_at_once(code: int) -> None:
    assert isinstance(judge(POLICY, [100.0], code), End)


@pytest.mark.parametrize("code", [0, 1, -9, None])
def test_any_other_end_does_not(code: int | None) -> None:
    assert judge(POLICY, [100.0], code) == Restart(1.0, 1)


def test_ends_in_words() -> None:
    assert [explain_code(code) for code in (None, 0, 9, -9)] == [
        "not started",
        "exit code 0",
        "exit code 9",
        "signal 9",
    ]
