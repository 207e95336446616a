"""Random histories without a server: transactions that a real one could have logged."""

from __future__ import annotations

from random import Random

from tests.reference.tree import Change, Tree, split
from tests.reference.txnlog import CLOSE_SESSION, MULTI, Op, Txn

_PATHS = [f"/{a}" for a in "ab"] + [f"/{a}/{b}" for a in "ab" for b in "cde"] + ["/a/c/x", "/a/c/y"]


class History:
    """Grows a log, one transaction at a time; `changes` is what it folds to."""

    def __init__(self) -> None:
        self.tree = Tree()
        self.changes: list[Change] = []
        self.zxid = 0x100

    def write(self, *ops: Op, session: int = 1) -> None:
        """One transaction; several parts make a multi."""
        kind = MULTI if len(ops) > 1 else 0
        self._apply(Txn(self._next_zxid(), self.zxid, session, 0, kind, ops))

    def create(self, path: str, data: bytes = b"", *, session: int = 0) -> None:
        self.write(Op("create", path, data, ephemeral=bool(session)), session=session)

    def set(self, path: str, data: bytes) -> None:
        self.write(Op("set", path, data, self.tree.znodes[path].version + 1))

    def delete(self, path: str) -> None:
        self.write(Op("delete", path))

    def close_session(self, session: int) -> None:
        self._apply(Txn(self._next_zxid(), self.zxid, session, 0, CLOSE_SESSION))

    def grow(self, dice: Random, txns: int) -> None:
        """Random creates, sets, deletes, multis, ACLs and session ends."""
        for _ in range(txns):
            draw = dice.random()
            if draw < 0.05:
                self.close_session(dice.randrange(2, 4))
            elif draw < 0.12 and (path := self._pick(dice, alive=True)):
                version = self.tree.znodes[path].version
                value = Op("set", path, b"m", version + 1)
                self.write(value, value._replace(version=version + 2))
            elif draw < 0.16 and (path := self._pick(dice, alive=True)):
                aversion = self.tree.znodes[path].aversion + 1
                self.write(Op("set_acl", path, version=aversion))
            else:
                self._flip(dice)

    def _flip(self, dice: Random) -> None:
        path = self._pick(dice, alive=dice.random() < 0.6)
        if path is None:
            return
        if path not in self.tree.znodes:
            # Only leaves may be ephemeral.
            session = dice.choice([0, 0, 2, 3]) if path.count("/") == 3 else 0
            self.create(path, dice.choice([b"", b"v", b"\xff"]), session=session)
        elif self.tree.znodes[path].children or dice.random() < 0.6:
            self.set(path, dice.choice([b"1", b"2"]))
        else:
            self.delete(path)

    def _pick(self, dice: Random, *, alive: bool) -> str | None:
        znodes = self.tree.znodes
        fitting = [p for p in _PATHS if (p in znodes) == alive and split(p)[0] in znodes]
        return dice.choice(fitting) if fitting else None

    def _apply(self, txn: Txn) -> None:
        self.changes += self.tree.apply(txn)

    def _next_zxid(self) -> int:
        self.zxid += 1
        return self.zxid
