"""Results of identifications."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _costate
from ._model import Model
from .errors import BadInput

if TYPE_CHECKING:
    from ._identify import Experiment

__all__ = ["Identification", "Parameter"]


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

    def _repr_html_(self) -> str:
        """What notebooks show: a table of the parameters, and what there is to say."""
        head = "".join(f"<th>{title}</th>" for title in ("parameter", "estimate", "95 % interval", "unit"))
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _row(p)) + "</tr>" for p in self.parameters.values()
        )
        notes = "".join(f"<p>{escape(line)}</p>" for line in self._notes())
        return f"<table><tr>{head}</tr>{rows}</table>{notes}"

    def _of(self) -> Experiment:
        if self.experiment is None:
            raise BadInput("the result was loaded without its experiment")
        return self.experiment

    def __repr__(self) -> str:
        rows = [_row(p) for p in self.parameters.values()]
        widths = [max((len(r[k]) for r in rows), default=0) for k in range(3)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths)) + "  " + r[3] for r in rows]
        return "\n".join([*lines, *self._notes()])

    def _notes(self) -> list[str]:
        """How the search ended and what one should know, line by line."""
        chi2 = self.data["goodness"].get("chi2_reduced")
        fit = "" if chi2 is None else f", reduced chi² {chi2:.3g}"
        how = "no fit" if self.status == "converged" and not self.converged else self.status
        if not self.parameters:
            how = "nothing to find: predicted"
        lines = [
            f"{how} after {self.data['iterations']} iterations in {self.data['wall_s']:.2g} s; "
            f"cost {self.cost:.4g} (at the start {self.data['cost_initial']:.4g}){fit}"
        ]
        lines += [f"weak: {w['text']}" for w in self.data["weak_directions"]]
        return lines + [f"warning: {w}" for w in self.warnings]
