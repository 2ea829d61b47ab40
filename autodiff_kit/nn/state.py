"""The state of a module: all its parameters and buffers by name, to be saved and loaded.

After reading this file you know what ``model.load_state_dict(torch.load("model.pt"))`` compares.
Read next: ``module.py``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.errors import error
from autodiff_kit.free_form import StateDict
from autodiff_kit.nn.parameter import Parameter, is_lazy
from autodiff_kit.tensor import Tensor

__all__ = ["State"]


_EXTRA = "_extra_state"  # the name of what a module adds to its state


class IncompatibleKeys(NamedTuple):
    """What ``load_state_dict`` returns: names that only one of the two sides has."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        missing, unexpected = self
        return f"_IncompatibleKeys(missing_keys={missing}, unexpected_keys={unexpected})"


class State:
    """The part of ``Module`` that is about its state."""

    def state_dict(
        self: Any, *, prefix: str = "", keep_vars: bool = False
    ) -> OrderedDict[str, Tensor]:
        """Return path -> tensor for all parameters and persistent buffers; memory is shared.

        ``prefix`` is put before all paths; with ``keep_vars``, the tensors are the parameters
        themselves.
        """
        state: OrderedDict[str, Tensor] = OrderedDict()
        for path, module in self._walk():
            for name, value in _own(module).items():
                key = f"{prefix}{path}.{name}" if path else prefix + name
                state[key] = value if keep_vars or is_lazy(value) else value.detach()
            if type(module).get_extra_state is not State.get_extra_state:
                state[f"{prefix}{path}.{_EXTRA}" if path else prefix + _EXTRA] = (
                    module.get_extra_state()
                )
        return state

    def get_extra_state(self) -> Any:
        """Return what else belongs to the state; a subclass that has such has both methods."""
        raise error("nn.extra_state", name="get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Take over what ``get_extra_state`` has returned."""
        raise error("nn.extra_state", name="set_extra_state")

    def load_state_dict(
        self: Any, state_dict: StateDict, strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy the values of a ``state_dict`` into the parameters and buffers.

        Returns the names that only one side has: none may be there when ``strict``. With
        ``assign``, the tensors of the ``state_dict`` themselves become the parameters and buffers.
        RuntimeError tells all names and shapes that differ.
        """
        if not isinstance(state_dict, Mapping):
            raise error("nn.state_type", kind=type(state_dict))
        keys, wrong = IncompatibleKeys([], []), []
        for path, module in self._walk():
            prefix = f"{path}." if path else ""
            own = _own(module)
            for name, target in own.items():
                if prefix + name in state_dict:
                    value = state_dict[prefix + name]
                    problems = _load(prefix + name, target, value, copies=not assign)
                    if assign and not problems:
                        setattr(module, name, _as_state(value, target))
                    wrong += problems
                else:
                    keys.missing_keys.append(prefix + name)
            extra = set()
            if type(module).set_extra_state is not State.set_extra_state:
                extra = {_EXTRA}
                if prefix + _EXTRA in state_dict:
                    module.set_extra_state(state_dict[prefix + _EXTRA])
                else:
                    keys.missing_keys.append(prefix + _EXTRA)
            for key in state_dict:
                first, *further = key.removeprefix(prefix).split(".", 1)
                if key.startswith(prefix) and first not in (
                    module._modules if further else {*own, *extra}
                ):
                    keys.unexpected_keys.append(key)
        if strict:
            for what, names in (("Unexpected", keys[1]), ("Missing", keys[0])):
                if names:
                    listed = ", ".join(f'"{name}"' for name in names)
                    wrong.insert(0, f"{what} key(s) in state_dict: {listed}. ")
        if wrong:
            raise error("nn.state", kind=type(self).__name__, wrong="\n\t".join(wrong))
        return keys


def _own(module: Any) -> dict[str, Tensor]:
    """Return the parameters and buffers of the module itself that belong to its state."""
    own: dict[str, Tensor | None] = {**module._parameters, **module._buffers}
    left_out = module.__dict__.get("_non_persistent", ())
    return {name: v for name, v in own.items() if v is not None and name not in left_out}


def _as_state(value: Tensor, target: Tensor) -> Tensor:
    """Return a tensor as a parameter, if it takes the place of one."""
    if not isinstance(target, Parameter):
        return value
    if isinstance(value, Parameter):
        return value.requires_grad_(target.requires_grad)
    return Parameter(value, target.requires_grad)


def _load(name: str, target: Tensor, value: Any, copies: bool) -> list[str]:
    """Copy a value into a parameter or buffer, if asked to; return what is wrong with it."""
    if not isinstance(value, Tensor):
        return [
            f'While copying the parameter named "{name}", expected torch.Tensor or Tensor-like '
            f"object from checkpoint but received {type(value)}"
        ]
    if is_lazy(target):
        if is_lazy(value):
            return []
        target.materialize(value.shape)
    if value.shape != target.shape:
        return [
            f"size mismatch for {name}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {target.shape}."
        ]
    if copies:
        with no_grad():
            target.copy_(value)
    return []
