"""A child process that publishes, and dies by kill -9 at the named step of its last batch."""

from __future__ import annotations

import os
import signal
import sys

from tests.watcher.log.writing import make_batch
from watcher.log.publisher import Publisher


class DyingPublisher(Publisher):
    dies_at = "never"

    def _commit(self) -> None:
        if self.dies_at == "before_commit":
            os.kill(os.getpid(), signal.SIGKILL)
        super()._commit()
        if self.dies_at == "after_commit":
            os.kill(os.getpid(), signal.SIGKILL)


def main(bootstrap: str, cluster: str, dies_at: str) -> None:
    publisher = DyingPublisher(bootstrap, {}, cluster)
    publisher.fence()
    publisher.publish(make_batch(1, 10))
    publisher.dies_at = dies_at
    publisher.publish(make_batch(11, 10))


if __name__ == "__main__":
    main(*sys.argv[1:])
