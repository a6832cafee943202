"""Costate: differentiable physics for finding out the physical parameters of real things.

>>> import costate
>>> model = costate.load("scene.toml")
>>> motion = costate.rollout(model, steps=1000)
>>> motion.positions.shape
(1001, 27, 3)

Every physical number of a model is a named leaf (``model.leaves``). A motion is a function of the
model, parameters, initial state and controls; its derivatives are functions of the same. Arrays are
NumPy's, units are SI, and nothing is changed in place.
"""

from . import errors, laws
from ._costate import VERSION as __version__
from ._builder import Builder
from ._derivatives import Gradient, LeafCheck, check_gradient, jvp, value_and_grad, vjp, vjps
from ._identify import Experiment
from ._jacobian import jacobian
from ._model import InputChannel, Joint, Leaf, Leaves, Model, Parameters, State, load
from ._result import Identification, Parameter
from ._rollout import rollout, rollouts
from ._select import Selection
from ._setup import Input, Signals
from ._step import Constraints, Contact, Contacts, Evaluation, evaluate, step
from ._trajectory import Trajectory
from .errors import *  # noqa: F403

__all__ = [
    "Builder",
    "Constraints",
    "Contact",
    "Contacts",
    "Evaluation",
    "Experiment",
    "Gradient",
    "Identification",
    "InputChannel",
    "Input",
    "Joint",
    "Leaf",
    "LeafCheck",
    "Leaves",
    "Model",
    "Parameter",
    "Parameters",
    "Selection",
    "Signals",
    "State",
    "Trajectory",
    "__version__",
    "check_gradient",
    "errors",
    "evaluate",
    "jacobian",
    "jvp",
    "laws",
    "load",
    "rollout",
    "rollouts",
    "step",
    "value_and_grad",
    "vjp",
    "vjps",
    *errors.__all__,
]
