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
from ._toml import dumps
from .errors import BadInput
from .laws import Law, _check

__all__ = ["Experiment", "Identification", "Parameter"]


def _columns(name: str, data: Any) -> dict[str, Any]:
    """Columns of numbers by name, of a DataFrame, a dict of arrays or a structured array."""
    if hasattr(data, "columns") and hasattr(data, "__getitem__") and not isinstance(data, Mapping):
        return {str(c): np.asarray(data[c], dtype=np.float64) for c in data.columns}
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

    __slots__ = ("_core", "_laws")

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
        self._core = _costate.Experiment.describe(model._core, text, tables)
        self._laws = model._laws

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


def _progress(progress: Any) -> tuple[Any, Callable[[], None]]:
    """The function that the core calls at each iteration, and what to call at the end."""

    def nothing() -> None:
        return None

    keys = ("iteration", "max_iterations", "cost", "start", "pass")
    if callable(progress):
        return (lambda *place: progress({**dict(zip(keys, place)), "values": dict(place[5])})), nothing
    notebook = "ipykernel" in sys.modules
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


class Parameter:
    """What is known of one leaf."""

    __slots__ = ("path", "unit", "names", "initial", "estimate", "std_error", "ci95", "transform", "at_bound")

    def __init__(self, path: str, found: Mapping[str, Any]) -> None:
        def numbers(x: Any) -> Any:
            return np.array(x, dtype=np.float64) if isinstance(x, list) else x

        self.path = path
        self.unit: str = found["unit"]
        self.names: list[str] = found.get("names", [])
        self.initial = numbers(found["initial"])
        """Where the search started."""
        self.estimate = numbers(found["estimate"])
        """The estimate: a number, or one for each of ``names``."""
        self.std_error = numbers(found["std_error"])
        """Standard error; None where the data give none."""
        ci = found["ci95"]
        self.ci95 = None if ci is None else (tuple(ci[0]) if len(ci) == 1 else np.array(ci))
        """Ends of the 95 % interval."""
        self.transform: str = found["transform"]
        self.at_bound: bool = found["at_bound"]
        """Whether the estimate lies on one of its bounds."""

    def __repr__(self) -> str:
        return f"<{_row(self)[0]} = {_row(self)[1]} {self.unit}>"


def _row(p: Parameter) -> tuple[str, str, str, str]:
    if np.ndim(p.estimate):
        return p.path, f"{np.size(p.estimate)} values", "", p.unit
    error = "" if p.std_error is None else f"± {p.std_error:.2g}"
    interval = "" if p.ci95 is None else f"[{p.ci95[0]:.5g}, {p.ci95[1]:.5g}]"
    return p.path, f"{p.estimate:.6g} {error}".strip(), interval, p.unit


class Identification:
    """What an identification found. ``data`` has all of it, as ``result.json`` of the program does."""

    __slots__ = ("data", "experiment", "parameters")

    def __init__(self, data: dict[str, Any], experiment: Experiment | None = None) -> None:
        self.data = data
        self.experiment = experiment
        self.parameters = {path: Parameter(path, p) for path, p in data["parameters"].items()}
        """By path: estimate, standard error, interval."""

    @classmethod
    def load(cls, path: str | os.PathLike[str], experiment: Experiment | None = None) -> Identification:
        """Reads a ``result.json``, of the program or of :meth:`save`."""
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        if not isinstance(data, dict) or data.get("schema") != "costate.identification/1":
            raise BadInput(f"{os.fspath(path)}: this is no result of an identification")
        return cls(data, experiment)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the result as JSON."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.data, file, indent=2)
            file.write("\n")

    def __getitem__(self, path: str) -> Any:
        """The estimate of a parameter."""
        return self.parameters[path].estimate

    @property
    def estimates(self) -> dict[str, Any]:
        """Estimates by path."""
        return {path: p.estimate for path, p in self.parameters.items()}

    @property
    def converged(self) -> bool:
        """Whether the estimate is a solution within the tolerances."""
        return self.data["converged"]

    @property
    def status(self) -> str:
        """How the search ended: "converged", "stalled", "max_iterations" or "interrupted"."""
        return self.data["status"]

    @property
    def cost(self) -> float:
        """Half the sum of squared residuals over their noise, priors included."""
        return self.data["cost"]

    @property
    def warnings(self) -> list[str]:
        """Everything one should know."""
        return self.data["warnings"]

    @property
    def model(self) -> Model:
        """The model with the estimates in place."""
        experiment = self._of()
        return Model(experiment._core.fitted(json.dumps(self.data)), experiment._laws)

    def evaluate(self, experiment: Experiment) -> list[dict[str, Any]]:
        """Predicts every recording of an experiment: fits by signal, as in ``data["signals"]``."""
        return json.loads(experiment._core.evaluate(json.dumps(self.data)))

    def report(self, path: str | os.PathLike[str] | None = None, *, motion: bool = True) -> str:
        """The report as one HTML page, written to ``path`` where one is given."""
        text = json.dumps(self.data)
        if self.experiment is None:
            page = _costate.report(text)
        else:
            page = self.experiment._core.report(text, motion)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def to_dataframe(self) -> Any:
        """The parameters as a pandas DataFrame, one row for each value."""
        import pandas

        rows = []
        for p in self.parameters.values():
            names = p.names or [p.path]
            intervals = None if p.ci95 is None else np.reshape(p.ci95, (-1, 2))
            for i, name in enumerate(names):
                rows.append(
                    {
                        "parameter": name,
                        "estimate": np.ravel(p.estimate)[i],
                        "std_error": np.nan if p.std_error is None else np.ravel(p.std_error)[i],
                        "low": np.nan if intervals is None else intervals[i, 0],
                        "high": np.nan if intervals is None else intervals[i, 1],
                        "initial": np.ravel(p.initial)[i],
                        "unit": p.unit,
                        "at_bound": p.at_bound,
                    }
                )
        return pandas.DataFrame(rows).set_index("parameter")

    def signals_to_dataframe(self) -> Any:
        """Every sample of every signal as a pandas DataFrame: measured, predicted, initial."""
        import pandas

        frames = []
        for s in self.data["signals"]:
            if "times" in s:
                frame = pandas.DataFrame({k: s[k] for k in ("times", "measured", "predicted", "initial")})
                frame.insert(0, "signal", s["signal"])
                frame.insert(0, "recording", s["recording"])
                frames.append(frame)
        return pandas.concat(frames, ignore_index=True)

    def plot(self, recording: str | None = None) -> Any:
        """Measured and predicted signals with matplotlib; returns the figure."""
        import matplotlib.pyplot as plt

        fits = [s for s in self.data["signals"] if recording in (None, s["recording"]) and "times" in s]
        if not fits:
            raise BadInput("there are no samples to plot")
        columns = min(3, len(fits))
        rows = -(-len(fits) // columns)
        figure, axes = plt.subplots(rows, columns, squeeze=False, figsize=(3.6 * columns, 2.2 * rows + 0.4), sharex=True)
        for axis in axes.flat[len(fits) :]:
            axis.set_visible(False)
        for axis, s in zip(axes.flat, fits):
            measured = np.array([np.nan if x is None else x for x in s["measured"]])
            axis.plot(s["times"], measured, ".", ms=3, color="0.5", label="measured")
            axis.plot(s["times"], s["initial"], "--", lw=1, color="tab:orange", label="start")
            axis.plot(s["times"], s["predicted"], lw=1.2, color="tab:blue", label="fitted")
            axis.set_ylabel(f"{s['signal']}" + (f" / {s['unit']}" if s["unit"] else ""))
            axis.set_title(f"{s['recording']}, {s['role']}", fontsize="small", loc="right")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), fontsize="small", ncols=3, loc="upper center")
        for axis in axes[-1]:
            axis.set_xlabel("time / s")
        figure.tight_layout(rect=(0, 0, 1, 1 - 0.3 / figure.get_figheight()))
        return figure

    def _of(self) -> Experiment:
        if self.experiment is None:
            raise BadInput("the result was loaded without its experiment")
        return self.experiment

    def __repr__(self) -> str:
        rows = [_row(p) for p in self.parameters.values()]
        widths = [max((len(r[k]) for r in rows), default=0) for k in range(3)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths)) + "  " + r[3] for r in rows]
        chi2 = self.data["goodness"].get("chi2_reduced")
        fit = "" if chi2 is None else f", reduced chi² {chi2:.3g}"
        lines.append(
            f"{self.status} after {self.data['iterations']} iterations in {self.data['wall_s']:.2g} s; "
            f"cost {self.cost:.4g} (at the start {self.data['cost_initial']:.4g}){fit}"
        )
        lines += [f"weak: {w['text']}" for w in self.data["weak_directions"]]
        lines += [f"warning: {w}" for w in self.warnings]
        return "\n".join(lines)
