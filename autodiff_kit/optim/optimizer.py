"""What all optimizers have in common: groups of parameters, their options, and what is remembered.

After reading this file you know that an optimizer holds the parameters themselves, changes them in
place, and so need not be told when they do. Read next: ``sgd.py``.
"""

from __future__ import annotations

import copy
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import numpy as np

from autodiff_kit.autograd.grad_mode import enable_grad
from autodiff_kit.core.base import INFERENCE, wrap
from autodiff_kit.core.hooks import RemovableHandle
from autodiff_kit.core.mode import local
from autodiff_kit.core.versions import note_change, share
from autodiff_kit.dtypes import float64, get_default_dtype
from autodiff_kit.errors import error
from autodiff_kit.free_form import Group, StateDict
from autodiff_kit.nn.parameter import clear_grad, type_name
from autodiff_kit.ops.messages import broadcast_message
from autodiff_kit.outside import absent_in
from autodiff_kit.overlap import refuse_repeated
from autodiff_kit.tensor import Tensor
from autodiff_kit.views import forget_views

__all__ = ["Betas", "Group", "InPlace", "Optimizer", "Params", "Rate", "begin", "count_step"]
__all__ += ["options_of", "required"]

Array = np.ndarray[Any, Any]
Params = Iterable[Any]  # tensors, pairs (name, tensor), or groups: see Optimizer
Rate = float | Tensor
Betas = tuple[float, float]
State = dict[str, Any]  # what an optimizer keeps of one parameter, by the names of its class


class _Required:
    """Stands in ``defaults`` for an option that each group has to say."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def _noted(step: Callable[..., Any]) -> Callable[..., Any]:
    """Let a class's ``step`` run the hooks, and note for schedulers that it was called."""

    @wraps(step)
    def call(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if type(self).step is not call:  # a subclass calls it as a part of its own
            return step(self, *args, **kwargs)
        for before in [*self._before_step.values()]:
            changed = before(self, (self, *args), kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise error("optim.step_hook", step=step, result=changed)
                (_, *args), kwargs = changed
        self._opt_called = True
        result = step(self, *args, **kwargs)
        for after in [*self._after_step.values()]:
            after(self, (self, *args), kwargs)
        return result

    return call


class Optimizer:
    """The base class of all optimizers.

    Parameters
    ----------
    params : iterable of Tensor, of (name, Tensor), or of dict
        The leaves to change; or groups of them, each with options of its own:
        ``{"params": [w], "lr": 0.1}``.
    defaults : dict
        The options of groups that do not say otherwise.

    Attributes
    ----------
    param_groups : list of dict
        May be changed between steps.
    state : dict of Tensor -> dict
        What is remembered for each parameter.

    TypeError or ValueError if there are no parameters, or some are no leaves, or are in two groups.
    """

    _has_scheduler = False
    _opt_called = False  # whether ``step`` was called after the first scheduler was made

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "step" in vars(cls):
            cls.step = _noted(cls.step)  # type: ignore[method-assign, unused-ignore]

    def __init__(self, params: Iterable[Any], defaults: Group) -> None:
        if isinstance(params, Tensor):
            raise error("optim.one_tensor", kind=type_name(params))
        self.defaults = defaults
        self._before_step: dict[int, Callable[..., Any]] = {}
        self._after_step: dict[int, Callable[..., None]] = {}
        self.state: defaultdict[Tensor, State] = defaultdict(dict)
        self.param_groups: list[Group] = []
        groups = list(params)
        if not groups:
            raise error("optim.no_parameters")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def _expect_step(self) -> None:
        """Note that a scheduler goes on with the optimizer from now on."""
        if not self._has_scheduler:
            self._has_scheduler, self._opt_called = True, False

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters, with options of their own."""
        if not isinstance(param_group, dict):
            raise error("optim.group_type", kind=type(param_group))
        params = param_group["params"]
        if isinstance(params, set):
            raise error("optim.set")
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [p[0] for p in params if isinstance(p, tuple)]
        if names:
            if len(names) != len(params):
                raise error("optim.names_missing")
            params, param_group["param_names"] = [p[1] for p in params], names
        for param in params:
            if not isinstance(param, Tensor):
                raise error("optim.not_a_tensor", kind=type_name(param))
            if not param.is_leaf and not param.retains_grad:
                raise error("optim.non_leaf", node=param.grad_fn and param.grad_fn.name())
        param_group["params"] = params
        for name, value in self.defaults.items():
            if value is required and name not in param_group:
                raise error("optim.required", name=name)
            param_group.setdefault(name, value)
        if len(set(params)) < len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error; see github.com/pytorch/pytorch/issues/40967 for more "
                "information",
                UserWarning,
                stacklevel=3,
            )
        registered = {param for group in self.param_groups for param in group["params"]}
        if not registered.isdisjoint(params):
            raise error("optim.two_groups")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to zeros, so that the next backward begins anew."""
        for group in self.param_groups:
            for param in group["params"]:
                clear_grad(param, set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters; every subclass has its own way."""
        raise error("optim.step_missing", kind=type(self).__name__)

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step; it may return other ones."""
        return RemovableHandle(self._before_step, hook)

    def register_step_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return RemovableHandle(self._after_step, hook)

    def state_dict(self) -> StateDict:
        """Return options and state as plain data, in which parameters are numbers."""
        number: dict[Tensor, int] = {}
        groups = []
        for group in self.param_groups:
            options = {name: value for name, value in group.items() if name != "params"}
            numbers = [number.setdefault(param, len(number)) for param in group["params"]]
            groups.append({**options, "params": numbers})
        state = {number.get(key, key): value for key, value in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over options and state; ValueError if these are of other groups of parameters."""
        groups = copy.deepcopy(state_dict["param_groups"])
        if len(groups) != len(self.param_groups):
            raise error("optim.group_count", own=len(self.param_groups), given=len(groups))
        param_of: dict[int, Tensor] = {}
        for own, group in zip(self.param_groups, groups, strict=True):
            sizes = len(own["params"]), len(group["params"])
            if sizes[0] != sizes[1]:
                raise error("optim.group_size", own=sizes[0], given=sizes[1])
            param_of.update(zip(group["params"], own["params"], strict=True))
            group["params"] = own["params"]
        self.param_groups = groups
        self.state = defaultdict(dict)
        for key, values in state_dict["state"].items():
            param = param_of.get(key)
            if param is None:
                self.state[key] = values
                continue
            self.state[param] = own_state = dict(values)  # the tensors are the same, as in PyTorch
            for name, value in values.items():
                if isinstance(value, Tensor) and name != "step" and param.is_floating_point():
                    own_state[name] = value.to(param.dtype)

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            lines = [f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params"]
            text += f"\nParameter Group {i}\n" + "".join(lines)
        return text + ")"


class InPlace(Optimizer):
    """An optimizer whose step is one pass of NumPy calls for each parameter.

    Nothing is recorded and no Tensor is made: this is the inner loop of every training. Versions
    go up by one, so that a graph from before the step cannot be used by mistake.

    ValueError if options are out of range or do not go together.
    """

    def __init__(self, params: Iterable[Any], defaults: Group) -> None:
        self._check(defaults)
        super().__init__(params, defaults)

    _unchecked: tuple[str, ...] = ("dampening", "foreach", "fused")
    _value_first = False  # whether PyTorch asks "lr < 0.0", not "0.0 <= lr"

    def _check(self, options: Group) -> None:
        """Refuse options that are out of range."""
        if isinstance(options["lr"], Tensor) and options["lr"].numel() != 1:
            raise error("optim.lr_elements")
        words = {"lr": "learning rate", "eps": "epsilon value"}
        for name, value in options.items():
            if name == "betas":
                for i in (0, 1):
                    if not 0.0 <= value[i] < 1.0:
                        raise error("optim.beta", index=i, value=value[i])
            elif name not in self._unchecked and not _is_positive(name, value, self._value_first):
                raise error("optim.negative", what=words.get(name, f"{name} value"), value=value)
        if options["differentiable"]:
            raise error("optim.differentiable")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change all parameters that have a gradient.

        ``closure``, if given, is called first to compute gradients anew; it returns the loss, and
        so does ``step``.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        local.mode.quietly(self._step)
        return loss

    def _step(self) -> None:
        observer = local.mode.observer
        for group in self.param_groups:
            maximize, decay = group["maximize"], group.get("weight_decay", 0)
            if group.get("decoupled_weight_decay"):
                decay = 0  # the algorithm sees to it
            for param in group["params"]:
                if param._grad is None:
                    continue
                x, g = share(param), param._grad._array
                refuse_repeated(x)
                if maximize:
                    g = -g
                try:
                    self._update(group, param, x, g + decay * x if decay else g)
                except ValueError:  # NumPy's: x.data = ... has changed the size
                    shapes = (g.shape, x.shape) if decay else (x.shape, g.shape)
                    raise self._misfit(param, *shapes) from None
                if param._changes is not INFERENCE:
                    note_change(x)
                if param._base is not None:
                    forget_views(param._base)
                elif param._views is not None:
                    forget_views(param)
                if observer is not None:
                    observer.stepped(param, f"{type(self).__name__}.step", group)

    def _misfit(self, param: Tensor, *shapes: tuple[int, ...]) -> Exception:
        """Return the error for a parameter, its gradient and state that do not fit each other."""
        remembered = [v.shape for v in self.state.get(param, {}).values() if isinstance(v, Tensor)]
        try:
            together = np.broadcast_shapes(*shapes, *remembered)
        except ValueError:
            return RuntimeError(broadcast_message("step", [*shapes, *remembered]))
        return error("inplace.shape", old=list(param.shape), new=list(together))

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        """Change ``x``, the memory of a parameter, by its gradient ``g``, which is left alone."""
        raise NotImplementedError


def _is_positive(name: str, value: Any, value_first: bool) -> bool:
    """Return whether an option is a number of 0 or more; TypeError for no number."""
    try:
        return bool(value >= 0.0)
    except TypeError:
        key = "optim.no_number_first" if value_first else "optim.no_number"
        raise error(key, name=name, kind=type(value).__name__) from None


def options_of(arguments: Group, order: str = "") -> Group:
    """Return the options among the arguments of a constructor, which are its ``locals()``.

    They come in the order of the arguments, or in PyTorch's ``order`` where groups have another.
    """
    others = ("self", "params", "__class__")
    names = order.split() or [name for name in arguments if name not in others]
    return {name: arguments[name] for name in names}


def begin(state: State, x: Array, *names: str, value: float = 0) -> None:
    """Begin to remember: a count of steps, and for each name a tensor of the shape of ``x``."""
    count = np.zeros((), "float64" if get_default_dtype() is float64 else "float32")
    state["step"] = wrap(count)
    for name in names:
        state[name] = wrap(np.full_like(x, value))


def count_step(state: State) -> float:
    """Count a step and return its number."""
    count = share(state["step"])
    count += 1
    return float(count)


__getattr__ = absent_in(__name__)
