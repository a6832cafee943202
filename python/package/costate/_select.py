"""Selections: an optimiser's vector, and the leaves that it stands for."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._derivatives import Gradient
from ._model import Model
from ._toml import dumps
from .errors import UnknownName

__all__ = ["Selection"]

Array = NDArray[np.float64]


class Selection:
    """Leaves of a model as one vector p for an optimiser: through transforms, spread over elements or tied.

    Parameters
    ----------
    model
        Whose leaves.
    parameters
        Paths, or a dict of settings by path, those of an experiment file's ``[parameters]``: ``transform``
        ("identity", "log", "bounded"; by default the logarithm of what must be positive), ``spread``
        ("uniform", "per_element", "per_group"), ``components``, ``tied``, ``start``, ``bounds``. Paths may
        have ``*`` for any text: ``"joint.*.damping"``.

    >>> chosen = costate.Selection(model, ["soft.*.young", "geom.floor.friction"])
    >>> def cost(p):
    ...     value, gradient = costate.value_and_grad(loss, model, chosen.parameters(p), steps=500)
    ...     return value, chosen.gradient(p, gradient)
    >>> found = scipy.optimize.minimize(cost, chosen.start, jac=True, bounds=chosen.bounds)
    >>> fitted = chosen.model(found.x)
    """

    __slots__ = ("_core", "_model", "names", "units", "start", "bounds")

    def __init__(self, model: Model, parameters: Mapping[str, Mapping[str, Any]] | Iterable[str]) -> None:
        if isinstance(parameters, str):
            parameters = [parameters]
        if not isinstance(parameters, Mapping):
            parameters = {path: {} for path in parameters}
        settings: dict[str, Any] = {}
        for path, given in parameters.items():
            settings |= {found: given for found in _matching(model, path)}
        self._model = model
        self._core = model._core.select(dumps({"costate": 1, "parameters": settings}))
        unknowns = self._core.unknowns
        self.names: list[str] = [name for name, *_ in unknowns]
        """Of the numbers of p: ``soft.beam.young``, ``option.gravity[2]``, ``soft.beam.young[tip]``."""
        self.units: list[str] = [unit for _, unit, *_ in unknowns]
        """SI units of the values behind p."""
        self.start: Array = np.array([start for _, _, start, _, _ in unknowns])
        """p at the model's own values, ``[n]``."""
        self.bounds: Array = np.array([ends for _, _, _, *ends in unknowns]).reshape(-1, 2)
        """Ends of every number of p, ``[n, 2]``."""

    def parameters(self, p: ArrayLike) -> dict[str, Any]:
        """The values of the selected leaves at p by path, as ``parameters`` of any function here."""
        return self._core.values(p)

    def gradient(self, p: ArrayLike, gradient: Gradient | Mapping[str, ArrayLike]) -> Array:
        """Derivatives by p, ``[n]``, from those by the leaves at p."""
        by_path = gradient.parameters if isinstance(gradient, Gradient) else gradient
        return self._core.pullback(p, dict(by_path))

    def model(self, p: ArrayLike) -> Model:
        """The model with the values at p."""
        return self._model.with_parameters(self.parameters(p))

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<costate.Selection: {', '.join(self.names)}>"


def _matching(model: Model, path: str) -> list[str]:
    """The leaves that a path with ``*`` means; the path itself without one."""
    if "*" not in path:
        return [path]
    found = fnmatch.filter(model.leaves, path.replace("[", "[[]"))
    if not found:
        raise UnknownName(f"no leaf is called {path}; model.leaves lists them all")
    return found
