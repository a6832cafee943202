"""Numbers that record what is done to them, as nodes of an expression graph."""

from __future__ import annotations

import inspect
import linecache
import os
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import BadInput


class LawError(BadInput):
    """Something in a law cannot be recorded; ``file`` and ``line`` say where."""


class _Tape:
    """Nodes in the order they were made; equal ones once."""

    def __init__(self, inputs: int, memory: bool = False) -> None:
        self.inputs = inputs
        self.memory = memory
        """Whether operations may remember earlier values."""
        self.nodes: list[tuple[Any, ...]] = []
        self.known: dict[tuple[Any, ...], int] = {}

    def node(self, *op: Any) -> Number:
        at = self.known.get(op)
        if at is None:
            at = self.inputs + len(self.nodes)
            self.nodes.append(op)
            self.known[op] = at
        return Number(self, at)

    def of(self, x: Any) -> int | None:
        """The node of a number, traced or plain; None for anything else."""
        if isinstance(x, Number):
            if x._tape is not self:
                raise _Unsupported("a number that was traced in another law")
            return x._at
        if isinstance(x, (bool, np.bool_)):
            x = float(x)
        if isinstance(x, (int, float, np.integer, np.floating)):
            return self.node("constant", float(x))._at
        if isinstance(x, np.ndarray) and x.ndim == 0:
            return self.of(x.item())
        return None


class _Unsupported(Exception):
    """An operation that cannot be recorded, before it is known where it stands."""


def _operation(op: str, swapped: bool = False) -> Callable[[Number, Any], Any]:
    def apply(self: Number, other: Any) -> Any:
        at = self._tape.of(other)
        if at is None:
            return NotImplemented
        a, b = (at, self._at) if swapped else (self._at, at)
        return self._tape.node(op, a, b)

    return apply


def _function(op: str) -> Callable[[Number], Number]:
    def apply(self: Number) -> Number:
        return self._tape.node(op, self._at)

    return apply


def _refused(what: str, instead: str) -> Callable[..., Any]:
    def refuse(self: Number, *_: Any) -> Any:
        raise _Unsupported(f"{what}: its value is not known while the law is recorded; {instead}")

    return refuse


class Number:
    """A traced number: a node of the law's expression graph."""

    __slots__ = ("_tape", "_at")

    def __init__(self, tape: _Tape, at: int) -> None:
        self._tape = tape
        self._at = at

    __add__ = __radd__ = _operation("add")
    __sub__, __rsub__ = _operation("sub"), _operation("sub", True)
    __mul__ = __rmul__ = _operation("mul")
    __truediv__, __rtruediv__ = _operation("div"), _operation("div", True)
    __lt__, __gt__ = _operation("less"), _operation("less", True)
    __le__, __ge__ = _operation("less_equal"), _operation("less_equal", True)
    __eq__ = _operation("equal")  # type: ignore[assignment]
    __neg__ = _function("neg")
    __abs__ = fabs = _function("abs")
    sqrt, exp, log = _function("sqrt"), _function("exp"), _function("log")
    sin, cos, tanh = _function("sin"), _function("cos"), _function("tanh")
    arctan2 = _operation("arctan2")
    __hash__ = None  # type: ignore[assignment]
    __bool__ = _refused("a decision by a traced number", "use costate.laws.where, minimum or maximum")
    __float__ = __int__ = __index__ = _refused(
        "turning a traced number into a plain one", "use it as it is"
    )

    def __ne__(self, other: Any) -> Any:
        same = self == other
        return same if same is NotImplemented else 1.0 - same

    def __pos__(self) -> Number:
        return self

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, Number):
            return (exponent * self.log()).exp()
        if not isinstance(exponent, (int, float, np.integer, np.floating)):
            return NotImplemented
        whole = int(exponent)
        if whole == exponent and abs(whole) < 2**31:
            return self._tape.node("powi", self._at, whole)
        if 2.0 * exponent == int(2.0 * exponent) and abs(exponent) < 2**30:
            return self.sqrt() ** int(2.0 * exponent)
        return (float(exponent) * self.log()).exp()

    def __rpow__(self, base: Any) -> Any:
        if not isinstance(base, (int, float, np.integer, np.floating)) or base <= 0:
            return NotImplemented
        return (self * float(np.log(base))).exp()

    def square(self) -> Number:
        return self * self

    def reciprocal(self) -> Number:
        return 1.0 / self

    def conjugate(self) -> Number:
        return self

    def tan(self) -> Number:
        return self.sin() / self.cos()

    def arctan(self) -> Number:
        return self.arctan2(1.0)

    def sinh(self) -> Number:
        return 0.5 * (self.exp() - (-self).exp())

    def cosh(self) -> Number:
        return 0.5 * (self.exp() + (-self).exp())

    def log1p(self) -> Number:
        return (1.0 + self).log()

    def expm1(self) -> Number:
        return self.exp() - 1.0

    def cbrt(self) -> Number:
        return where(self < 0.0, -1.0, 1.0) * (abs(self).log() / 3.0).exp()

    def __repr__(self) -> str:
        return "<a traced number>"


def where(condition: Any, then: Any, otherwise: Any) -> Any:
    """``then`` where the condition holds, else ``otherwise``; of numbers or arrays."""
    if any(isinstance(x, np.ndarray) and x.ndim for x in (condition, then, otherwise)):
        return np.frompyfunc(where, 3, 1)(condition, then, otherwise)
    for x in (condition, then, otherwise):
        if isinstance(x, Number):
            tape = x._tape
            a, b, c = tape.of(condition), tape.of(then), tape.of(otherwise)
            if None in (a, b, c):
                raise _Unsupported("where: all its arguments are numbers")
            return tape.node("select", a, b, c)
    return then if condition else otherwise


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two numbers, or of each pair of two arrays."""
    return where(a <= b, a, b)


def maximum(a: Any, b: Any) -> Any:
    """The larger of two numbers, or of each pair of two arrays."""
    return where(b <= a, a, b)


def clip(x: Any, low: Any, high: Any) -> Any:
    """x between two bounds."""
    return minimum(maximum(x, low), high)


def sign(x: Any) -> Any:
    """-1, 0 or 1."""
    return where(x > 0, 1.0, where(x < 0, -1.0, 0.0))


def _remembered(what: str, x: Any, *arguments: Any) -> Number:
    if not isinstance(x, Number):
        raise _Unsupported(f"{what} of a plain number")
    if not x._tape.memory:
        raise _Unsupported(f"{what}: this law remembers nothing")
    return x._tape.node(what, x._at, *arguments)


def previous(x: Any, ticks: int = 1) -> Number:
    """x as it was some ticks ago, in laws of controllers; as at the first tick before there were so many."""
    if not 1 <= ticks <= 1000:
        raise _Unsupported("previous looks back 1 to 1000 ticks")
    return _remembered("previous", x, int(ticks))


def integral(x: Any) -> Number:
    """The sum of x times the sample time over the ticks before this one, in laws of controllers."""
    return _remembered("integral", x)


def cof(m: Any) -> Any:
    """The cofactor matrix of a 3 x 3 matrix: det(m) times the transposed inverse."""
    m = np.asarray(m)
    if m.shape != (3, 3):
        raise _Unsupported(f"the cofactors of an array of shape {m.shape}, not (3, 3)")
    return np.array(
        [
            [
                m[(i + 1) % 3, (j + 1) % 3] * m[(i + 2) % 3, (j + 2) % 3]
                - m[(i + 1) % 3, (j + 2) % 3] * m[(i + 2) % 3, (j + 1) % 3]
                for j in range(3)
            ]
            for i in range(3)
        ]
    )


def det(m: Any) -> Any:
    """The determinant of a 3 x 3 matrix."""
    return (np.asarray(m)[0] * cof(m)[0]).sum()


def inv(m: Any) -> Any:
    """The inverse of a 3 x 3 matrix."""
    return cof(m).T / det(m)


_HERE = os.path.dirname(os.path.abspath(__file__))
_NUMPY = os.path.dirname(os.path.abspath(np.__file__))


def _place(error: BaseException) -> tuple[str | None, int | None]:
    """The innermost line that is the user's own."""
    own: tuple[str | None, int | None] = (None, None)
    for frame in traceback.extract_tb(error.__traceback__):
        path = os.path.abspath(frame.filename)
        if not path.startswith((_HERE + os.sep, _NUMPY + os.sep)):
            own = (frame.filename, frame.lineno)
    return own


def names(function: Callable[..., Any], what: str, first: int = 0) -> list[str]:
    """Names of a function's arguments after the first so many."""
    try:
        arguments = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise LawError(f"{what}: {error}") from None
    if len(arguments) < first or any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in arguments):
        raise LawError(f"{what}: its arguments are F and its parameters, by name" if first == 1 else
                       f"{what}: its arguments are numbers, by name")
    return [p.name for p in arguments[first:]]


def record(function: Callable[..., Any], tape: _Tape, arguments: list[Any], what: str, returns: str) -> int:
    """The node of a function's result; a :class:`LawError` at the user's line where it cannot be recorded."""
    try:
        result = function(*arguments)
        if isinstance(result, np.ndarray) and result.size == 1:
            result = result.item()
        at = tape.of(result)
        if at is None:
            raise _Unsupported(f"returning a {type(result).__name__}: a law returns {returns}, one number")
        return at
    except Exception as error:
        file, line = _place(error)
        if file is None:
            code = getattr(function, "__code__", None)
            file, line = getattr(code, "co_filename", None), getattr(code, "co_firstlineno", None)
        source = linecache.getline(file or "", line or 0).strip()
        message = str(error) or type(error).__name__
        if not isinstance(error, _Unsupported):
            message = f"{type(error).__name__}: {message}; laws are made of functions of single numbers (np.exp, np.sqrt …) " \
                      "and of those of costate.laws (det, inv, cof, where, minimum, maximum)"
        at_line = f"{file}, line {line}: `{source}`: " if source else (f"{file}, line {line}: " if file else "")
        fault = LawError(f"{what} cannot be recorded: {at_line}{message}")
        fault.kind, fault.file, fault.line = "law", file, line
        raise fault from (None if isinstance(error, _Unsupported) else error)
