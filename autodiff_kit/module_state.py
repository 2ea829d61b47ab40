"""Modules with other parameters than their own: ``functional_call``, ``stack_module_state``.

After reading this file you know that a module is a function of its parameters, too. Read next:
``func.py``, which transforms functions.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.errors import error
from autodiff_kit.free_form import Keywords, Namespace
from autodiff_kit.functions.basic import stack
from autodiff_kit.tensor import Tensor

__all__ = ["functional_call", "stack_module_state"]


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: Keywords | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in place of its parameters and buffers.

    They are given by path, in one dict or several; what is left out stays as it is. RuntimeError
    under ``strict`` if paths differ.
    """
    dicts = parameter_and_buffer_dicts
    values = dicts if isinstance(dicts, dict) else {k: v for d in dicts for k, v in d.items()}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    tied: dict[Any, list[tuple[Namespace, str]]] = {}
    places: dict[str, list[tuple[Namespace, str]]] = {}
    for prefix, part in module.named_modules():
        for owned in (part._parameters, part._buffers):
            for name, value in owned.items():
                place = tied.setdefault(value, []) if tie_weights and value is not None else []
                place.append((owned, name))
                places[f"{prefix}.{name}" if prefix else name] = place
    if strict and values.keys() != places.keys():
        names = {"Unexpected": values.keys() - places, "Missing": places.keys() - values}
        wrong = [f"{what} key(s): {', '.join(map(repr, n))}." for what, n in names.items() if n]
        raise error("func.unexpected", kind=type(module).__name__, wrong="\n\t".join(wrong))
    before: list[tuple[Any, str, Any]] = []
    try:
        for path, value in values.items():
            for owned, name in places.get(path, ()):
                before.append((owned, name, owned[name]))
                owned[name] = value
        return module(*args, **(kwargs or {}))
    finally:
        for owned, name, value in reversed(before):
            owned[name] = value


def stack_module_state(models: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return the parameters and the buffers of models of one form, stacked, by path."""
    models = [*models]
    if not models:
        raise error("func.no_models")

    def stacked(states: list[dict[str, Tensor]], is_trained: bool) -> dict[str, Tensor]:
        return {
            name: stack([s[name].detach() for s in states]).requires_grad_(
                is_trained and states[0][name].requires_grad
            )
            for name in states[0]
        }

    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    return stacked(parameters, True), stacked(buffers, False)
