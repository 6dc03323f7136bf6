# Copyright 2026 The Tiny Authors.
#
# All of it is free to use.

"""A box that holds things."""

from __future__ import annotations

LIMIT = 3


class Box:
    """Holds up to LIMIT things."""

    def __init__(self):
        self.things = []

    def put(self, thing):
        """Puts a thing in.

        Raises ValueError if the box is full.
        """
        if len(self.things) >= LIMIT:
            raise ValueError(f"no room for {thing!r}: <script>alert(1)</script>")
        self.things.append(thing)

    def take(self):
        return self.things.pop()


def empty(box):
    while box.things:
        yield box.take()
