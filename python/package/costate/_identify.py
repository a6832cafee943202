"""Identification: which parameters explain recordings, and how sure one can be of them."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from . import _costate
from ._model import Model
from ._result import Identification
from ._toml import dumps
from .errors import BadInput
from .laws import Law, _check

__all__ = ["Experiment"]


def _columns(name: str, data: Any) -> dict[str, Any]:
    """Columns of numbers by name, of a DataFrame, a dict of arrays or a structured array."""
    if hasattr(data, "columns") and hasattr(data, "__getitem__") and not isinstance(data, Mapping):
        columns = {str(c): np.asarray(data[c], dtype=np.float64) for c in data.columns}
        index = getattr(data, "index", None)
        # Time is often the index; one that has a name is a column as well.
        label = getattr(index, "name", None)
        if label is not None:
            columns.setdefault(str(label), np.asarray(index, dtype=np.float64))
        return columns
    if isinstance(data, np.ndarray) and data.dtype.names:
        return {c: np.asarray(data[c], dtype=np.float64) for c in data.dtype.names}
    if isinstance(data, Mapping):
        out: dict[str, Any] = {}
        for column, values in data.items():
            values = np.asarray(values, dtype=np.float64)
            if values.ndim == 1:
                out[str(column)] = values
            elif values.ndim == 2:
                # Columns of a signal with three components.
                ends = "xyz" if values.shape[1] == 3 else range(values.shape[1])
                out.update({f"{column}_{end}": np.ascontiguousarray(values[:, k]) for k, end in enumerate(ends)})
            else:
                raise BadInput(f"recording.{name}: column {column!r} has {values.ndim} dimensions")
        return out
    raise BadInput(
        f"recording.{name}: expected a DataFrame, a dict of arrays, or a structured array, "
        f"found a {type(data).__name__}"
    )


class Experiment:
    """A model, recordings of it, and what is unknown.

    Parameters
    ----------
    model
        What was recorded.
    signals
        What is measured, by name, in the schema of experiment files (``docs/experiment.md``).
    recordings
        By name: a DataFrame, a dict of arrays (``[n]``, or ``[n, 3]`` for the columns NAME_x, NAME_y
        and NAME_z) or a structured array, with a column ``time``; a path of a file; or a dict with
        any of these under ``data`` beside the keys of an experiment file's ``[recording.NAME]``.
    parameters
        What is unknown: paths, or a dict of settings by path (``{"start": …, "bounds": …}``).
    validation
        Names of recordings that are predicted and never fitted.
    method, frames, name
        As in experiment files.
    """

    __slots__ = ("_core", "_laws", "_made")

    def __init__(
        self,
        model: Model,
        *,
        signals: Mapping[str, Mapping[str, Any]],
        recordings: Mapping[str, Any],
        parameters: Mapping[str, Mapping[str, Any]] | Iterable[str],
        validation: Iterable[str] = (),
        method: Mapping[str, Any] | None = None,
        frames: Mapping[str, Mapping[str, Any]] | None = None,
        name: str = "experiment",
    ) -> None:
        tables: dict[str, Any] = {}
        described: dict[str, Any] = {}
        for key, given in recordings.items():
            settings: dict[str, Any] = {}
            data = given
            if isinstance(given, Mapping) and ("data" in given or "file" in given):
                settings = {k: v for k, v in given.items() if k != "data"}
                data = given.get("data")
            if isinstance(data, (str, os.PathLike)):
                settings["file"] = os.path.abspath(data)
            elif data is not None:
                tables[key] = _columns(key, data)
                settings["file"] = key
            described[key] = settings
        if not isinstance(parameters, Mapping):
            parameters = {path: {} for path in parameters}
        text = dumps(
            {
                "costate": 1,
                "name": name,
                "validation": list(validation) or None,
                "frame": frames,
                "signal": signals,
                "recording": described,
                "parameters": parameters,
                "method": method,
            }
        )
        self._describe(model, text, tables)

    def _describe(self, model: Model, text: str, tables: dict[str, Any]) -> None:
        self._core = _costate.Experiment.describe(model._core, text, tables)
        self._laws = model._laws
        self._made: tuple[Any, ...] = (None, model, text, tables)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, self._made

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], laws: Iterable[Law] = (), allow: Iterable[str] = ()
    ) -> Experiment:
        """Reads an experiment file with its scene and recordings.

        ``laws`` are material laws of one's own that the scene names (:mod:`costate.laws`); ``allow`` is as
        for :func:`costate.load`.
        """
        self = cls.__new__(cls)
        self._laws = tuple(_check(laws))
        own = [law._core for law in self._laws]
        self._core = _costate.Experiment.read(os.fspath(path), own, list(allow))
        self._made = (os.path.abspath(path), self._laws, tuple(allow), None)
        return self

    @property
    def name(self) -> str:
        """Name, for reports."""
        return self._core.name

    @property
    def parameters(self) -> list[str]:
        """Paths of the unknowns."""
        return self._core.parameters

    @property
    def signals(self) -> dict[str, str]:
        """SI units of the scalar signals by name."""
        return dict(self._core.signals)

    @property
    def recordings(self) -> dict[str, bool]:
        """Names of the recordings, and whether each is kept for validation."""
        return dict(self._core.recordings)

    def identify(
        self,
        *,
        run_folder: str | os.PathLike[str] | None = None,
        resume: bool = False,
        max_iterations: int | None = None,
        progress: bool | Callable[[dict[str, Any]], None] | None = None,
    ) -> Identification:
        """Finds the unknowns.

        Ctrl-C ends the search early with a valid partial result (``status`` is "interrupted"); with a
        ``run_folder``, ``resume`` goes on from there. ``progress`` is True, False, a function that is
        called with a dict at each iteration, or None: a bar in a terminal or notebook where tqdm is
        installed.

        Raises
        ------
        NotIdentifiable
            The recordings cannot show some of the parameters.
        BadInput, Diverged
            The experiment contradicts itself, or its start cannot be simulated.
        """
        show, close = _progress(progress)
        try:
            found = self._core.identify(
                None if run_folder is None else os.fspath(run_folder), resume, max_iterations, show
            )
        finally:
            close()
        return Identification(json.loads(found), self)

    def gradient(self) -> tuple[float, dict[str, Any]]:
        """Cost at the start, and its derivatives by the unknowns."""
        found = json.loads(self._core.gradient())
        return found["cost"], found["gradient"]

    def __repr__(self) -> str:
        return (
            f"<costate.Experiment {self.name!r}: {len(self.recordings)} recordings of "
            f"{len(self.signals)} signals, {len(self.parameters)} unknown parameters>"
        )


def _again(path: str | None, first: Any, second: Any, tables: Any) -> Experiment:
    """A pickled experiment; one of a file reads the file again."""
    if path is not None:
        return Experiment.load(path, first, second)
    experiment = Experiment.__new__(Experiment)
    experiment._describe(first, second, tables)
    return experiment


def _in_notebook() -> bool:
    """Whether a notebook's kernel runs this."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


def _progress(progress: Any) -> tuple[Any, Callable[[], None]]:
    """The function that the core calls at each iteration, and what to call at the end."""

    def nothing() -> None:
        return None

    keys = ("iteration", "max_iterations", "cost", "start", "pass")
    if callable(progress):
        return (lambda *place: progress({**dict(zip(keys, place)), "values": dict(place[5])})), nothing
    notebook = _in_notebook()
    if progress is None:
        progress = notebook or (sys.stderr is not None and sys.stderr.isatty())
    if not progress:
        return None, nothing
    try:
        if notebook and importlib.util.find_spec("ipywidgets"):
            from tqdm.notebook import tqdm
        else:
            from tqdm import tqdm
    except ImportError:
        return None, nothing
    bar = tqdm(desc="identify", unit="it", leave=False)

    def show(iteration: int, most: int, cost: float, start: Any, pass_: int, values: Any) -> None:
        bar.total = most
        bar.n = iteration
        bar.set_postfix(cost=f"{cost:.6g}")

    return show, bar.close
