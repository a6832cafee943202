"""What can go wrong, with the same words as in Rust and in the program."""

from __future__ import annotations

__all__ = [
    "CostateError",
    "BadInput",
    "UnknownName",
    "UnstableStep",
    "Diverged",
    "NonFiniteDerivative",
    "NotIdentifiable",
    "InternalError",
]


class CostateError(Exception):
    """Everything that Costate raises on purpose."""

    kind: str = ""
    """A stable name of the kind of fault, for programs."""


class BadInput(CostateError, ValueError):
    """A file, value or argument that makes no sense.

    Where it is written in a file, ``file``, ``line`` and ``column`` (from 1) say where.
    """

    file: str | None = None
    line: int | None = None
    column: int | None = None


class UnknownName(BadInput, LookupError):
    """A path or name that nothing has; the text names the nearest ones."""


class UnstableStep(BadInput):
    """The time step (``timestep``, s) is beyond the largest stable one (``bound``, s)."""

    timestep: float
    bound: float
    limited_by: str


class Diverged(CostateError, ArithmeticError):
    """The motion left every finite bound at ``step``, ``time`` (s), where ``element`` is.

    ``partial`` is the trajectory up to there, where a rollout raised it.
    """

    step: int
    time: float
    element: str
    partial = None


class NonFiniteDerivative(CostateError, ArithmeticError):
    """A derivative is not finite though the state is; the text says which."""


class NotIdentifiable(CostateError):
    """The recordings cannot show some parameters: ``items`` lists (path or combination, reason)."""

    items: list[tuple[str, str]]


class InternalError(CostateError, RuntimeError):
    """A fault of Costate itself."""
