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

    _version = 1  # of the state; a class whose state has changed counts on

    def state_dict(
        self: Any, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Return path -> tensor for all parameters and persistent buffers; memory is shared.

        ``prefix`` is put before all paths; with ``keep_vars``, the tensors are the parameters
        themselves. ``destination`` is a dictionary to add to. The attribute ``_metadata`` of a
        new one tells the version of each module's class.
        """
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = {"version": self._version}
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        return destination

    def _save_to_state_dict(self, destination: StateDict, prefix: str, keep_vars: bool) -> None:
        """Add what is the module's own, without its children's."""
        for name, value in _own(self).items():
            destination[prefix + name] = value if keep_vars or is_lazy(value) else value.detach()
        if type(self).get_extra_state is not State.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

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
        keys, wrong = IncompatibleKeys([], []), list[str]()
        metadata = getattr(state_dict, "_metadata", {})
        state = dict(state_dict)  # the methods of classes may change it
        for path, module in self._walk():
            prefix = f"{path}." if path else ""
            own = {key: value for key, value in state.items() if key.startswith(prefix)}
            about = metadata.get(path, {})
            if assign:
                about = {**about, "assign_to_params_buffers": True}
            module._load_from_state_dict(own, prefix, about, True, *keys, wrong)
        if strict:
            for what, names in (("Unexpected", keys[1]), ("Missing", keys[0])):
                if names:
                    listed = ", ".join(f'"{name}"' for name in names)
                    wrong.insert(0, f"{what} key(s) in state_dict: {listed}. ")
        if wrong:
            raise error("nn.state", kind=type(self).__name__, wrong="\n\t".join(wrong))
        return keys

    def _load_from_state_dict(
        self: Any,
        state_dict: StateDict,
        prefix: str,
        local_metadata: StateDict,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load what is the module's own, without its children's; add to the lists what is wrong.

        A class whose state has changed compares ``local_metadata.get("version")`` with its
        ``_version``, adds to ``state_dict`` what older states lack, and then calls this.
        A state without metadata has no version.
        """
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = _own(self)
        for name, target in own.items():
            key = prefix + name
            if key in state_dict:
                value = state_dict[key]
                if _is_of_no_dimension(target) and getattr(value, "shape", None) == (1,):
                    value = value[0]  # from a version that had no 0-d tensors
                problems = _load(key, target, value, copies=not assign)
                if assign and not problems:
                    setattr(self, name, _as_state(value, target))
                error_msgs += problems
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA
        if type(self).set_extra_state is not State.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        for key in state_dict if strict else ():
            first, *further = key.removeprefix(prefix).split(".", 1)
            if (
                key != extra
                and key.startswith(prefix)
                and (first not in (self._modules if further else own))
            ):
                unexpected_keys.append(key)


def _own(module: Any) -> dict[str, Tensor]:
    """Return the parameters and buffers of the module itself that belong to its state."""
    own: dict[str, Tensor | None] = {**module._parameters, **module._buffers}
    left_out = module.__dict__.get("_non_persistent", ())
    return {name: v for name, v in own.items() if v is not None and name not in left_out}


def _is_of_no_dimension(target: Tensor) -> bool:
    return not is_lazy(target) and target.ndim == 0


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
