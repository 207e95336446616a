"""Which labels the answer to a query has. What it names and nobody exports is found out.

A query that could never match anything is found out as well: two sides of an operator with other
labels, a quantile without `le`.
"""

from __future__ import annotations

import promql_parser as promql

from tests.deploy.exported import Labels

_KEEPING = {
    "rate",
    "increase",
    "delta",
    "deriv",
    "changes",
    "max_over_time",
    "min_over_time",
    "abs",
}
_SETS = {"and", "or", "unless"}


class WrongQuery(AssertionError):
    """A query names what nobody exports, or can never have an answer."""


def find_labels(query: str, exported: Labels) -> frozenset[str]:
    """The labels of the answer; none: it is a number."""
    try:
        return _Reader(query, exported).read(promql.parse(query))
    except ValueError as error:
        raise WrongQuery(f"{query}: {error}") from error


class _Reader:
    def __init__(self, query: str, exported: Labels) -> None:
        self._query, self._exported = query, exported

    def read(self, part: promql.Expr) -> frozenset[str]:
        match part:
            case promql.VectorSelector():
                return self._select(part)
            case promql.MatrixSelector():
                return self._select(part.vector_selector)
            case promql.ParenExpr() | promql.UnaryExpr() | promql.SubqueryExpr():
                return self.read(part.expr)
            case promql.NumberLiteral() | promql.StringLiteral():
                return frozenset()
            case promql.AggregateExpr():
                return self._aggregate(part)
            case promql.Call():
                return self._call(part)
            case promql.BinaryExpr():
                return self._join(part)
        raise self._complain(f"what is {type(part).__name__}?")

    def _select(self, selector: promql.VectorSelector) -> frozenset[str]:
        name = selector.name or ""
        if name not in self._exported:
            raise self._complain(f"nobody exports {name or 'a series without a name'}")
        labels = self._exported[name]
        self._want({matcher.name for matcher in selector.matchers.matchers}, labels, name)
        return labels

    def _aggregate(self, part: promql.AggregateExpr) -> frozenset[str]:
        labels = self.read(part.expr)
        if part.modifier is None:
            return labels if str(part.op) in ("topk", "bottomk") else frozenset()
        chosen = frozenset(part.modifier.labels)
        self._want(chosen, labels, "what is aggregated")
        return chosen if part.modifier.type == promql.AggModifierType.By else labels - chosen

    def _call(self, part: promql.Call) -> frozenset[str]:
        labels = frozenset[str]().union(*map(self.read, part.args))
        if part.func.name == "histogram_quantile":
            self._want({"le"}, labels, "the histogram")
            return labels - {"le"}
        if part.func.name == "time" or part.func.name in _KEEPING:
            return labels
        raise self._complain(f"this test does not know which labels {part.func.name}() leaves")

    def _join(self, part: promql.BinaryExpr) -> frozenset[str]:
        left, right = self.read(part.lhs), self.read(part.rhs)
        if not left or not right:
            return left | right
        matching = part.modifier.matching if part.modifier else None
        if matching is None:
            if left != right:
                raise self._complain(f"the sides never match: they differ in {set(left ^ right)}")
            return left
        if matching.type != promql.LabelModifierType.Include or str(part.op) not in _SETS:
            raise self._complain("this test knows `on` with and, or, unless")
        self._want(frozenset(matching.labels), left & right, "both sides")
        return left

    def _want(self, named: set[str] | frozenset[str], there: frozenset[str], where: str) -> None:
        if unknown := named - there:
            raise self._complain(f"{where} has no label {', '.join(sorted(unknown))}")

    def _complain(self, what: str) -> WrongQuery:
        return WrongQuery(f"{self._query}: {what}")
