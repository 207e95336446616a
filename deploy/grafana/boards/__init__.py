"""What the dashboards show; a file is a dashboard, or a section of the largest one."""

from __future__ import annotations

from deploy.grafana.boards.cluster import CLUSTER
from deploy.grafana.boards.lag import LAG
from deploy.grafana.boards.pipeline import PIPELINE
from deploy.grafana.boards.rebalances import REBALANCES
from deploy.grafana.panels import Board

BOARDS: tuple[Board, ...] = (LAG, REBALANCES, CLUSTER, PIPELINE)
