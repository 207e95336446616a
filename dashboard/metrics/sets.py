"""The lake as numbers for Prometheus, under our own names and under those of other exporters.

One file per set of names; this is all of them.
"""

from __future__ import annotations

from dashboard.dialects.burrow.metrics import BURROW
from dashboard.dialects.kafka_exporter import KAFKA_EXPORTER
from dashboard.dialects.kminion import KMINION
from dashboard.dialects.lag_exporter import LAG_EXPORTER
from dashboard.metrics.family import MetricSet
from dashboard.metrics.own import OWN

SETS: tuple[MetricSet, ...] = (OWN, LAG_EXPORTER, KMINION, KAFKA_EXPORTER, BURROW)
SET_BY_NAME = {one.name: one for one in SETS}
