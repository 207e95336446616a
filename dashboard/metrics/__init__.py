"""The lake as numbers for Prometheus, under our own names and under those of other exporters.

One file per set of names; this is all of them.
"""

from __future__ import annotations

from dashboard.metrics.burrow import BURROW
from dashboard.metrics.family import MetricSet
from dashboard.metrics.kafka_exporter import KAFKA_EXPORTER
from dashboard.metrics.kminion import KMINION
from dashboard.metrics.lag_exporter import LAG_EXPORTER
from dashboard.metrics.own import OWN

SETS: tuple[MetricSet, ...] = (OWN, LAG_EXPORTER, KMINION, KAFKA_EXPORTER, BURROW)
SET_BY_NAME = {one.name: one for one in SETS}
