"""The kit's way of raising errors: PyTorch's words first, then one line that teaches.

After reading this file you can raise an error that a learner can act on. The first line is what
PyTorch 2.13.0 says in the same case, so that what is searched for on the web is found; the line
after it says what to do. The words stand in ``messages/*.toml``, so that code reads as code and
words can be read side by side; they are loaded when the first error is raised.
Read next: ``dtypes.py``.
"""

from __future__ import annotations

import builtins
import re
import warnings
from contextlib import suppress
from functools import cache
from typing import Any

__all__ = ["LinAlgError", "advice_on", "error", "operands_refused", "warn_of_cycle", "warn_of_grad"]
__all__ += ["warn_of_list_key", "warn_of_old_mask", "warn_of_scalar", "warn_of_transpose"]
__all__ += ["warn_of_arrays"]


class LinAlgError(RuntimeError):
    """What ``torch.linalg`` cannot compute."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"  # so PyTorch calls it
_LITERAL = 12  # a message with fewer letters of its own fits too many
_OWN: dict[str, type[Exception]] = {"_LinAlgError": LinAlgError}


def error(key: str, **values: Any) -> Exception:
    r"""Return an error of the catalogue, ready to be raised.

    Parameters
    ----------
    key : str
        ``"file.entry"``: the entry of that name in ``messages/file.toml``, which says which class
        it ``raises``, PyTorch's ``words``, and the kit's ``advice``.
    **values
        What stands in the words in braces.

    Examples
    --------
    >>> error("tensor.len_of_0d")
    TypeError('len() of a 0-d tensor\n-> It holds one number: x.item().')
    """
    file, name = key.split(".")
    entry = _catalogue(file)[name]
    words, advice = (entry[part].format(**values) for part in ("words", "advice"))
    kind = _OWN.get(entry["raises"]) or getattr(builtins, entry["raises"])
    exception: Exception = kind(f"{words}\n-> {advice}")
    exception.key = key  # type: ignore[attr-defined]
    return exception


def advice_on(kind: str, words: str) -> str:
    """Return what the kit advises where PyTorch raises an error; "" if the words do not tell.

    Parameters
    ----------
    kind : str
        The name of the error's class.
    words : str
        PyTorch's message.

    Examples
    --------
    >>> advice_on("TypeError", "len() of a 0-d tensor")
    'It holds one number: x.item().'
    """
    matches = [
        (entry, match.groupdict())
        for pattern, entry in _patterns()
        if entry["raises"] == kind and (match := pattern.fullmatch(words))
    ]
    usual = [match for match in matches if "usual" in match[0]]
    all_advice = [_filled(entry["advice"], fields) for entry, fields in usual or matches]
    first = all_advice[0] if all_advice else []
    return " ".join(s for s in first if all(s in advice for advice in all_advice))


def _filled(advice: str, fields: dict[str, str]) -> list[str]:
    """Return those sentences of an advice that need no more than is known."""
    sentences: list[str] = []
    for sentence in re.split(r"(?<=[.!?]) ", advice):
        with suppress(AttributeError, LookupError, ValueError):
            sentences.append(sentence.format(**fields))
    return sentences


@cache
def _patterns() -> list[tuple[re.Pattern[str], dict[str, str]]]:
    """Return what the words of each error look like."""
    from importlib.resources import files
    from string import Formatter  # whose class compiles patterns: 4 % of importing the kit

    folder = files("autodiff_kit").joinpath("messages")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))
    patterns: list[tuple[re.Pattern[str], dict[str, str]]] = []
    for entry in (e for name in names for e in _catalogue(name.removesuffix(".toml")).values()):
        pattern, fields, size = "", set[str](), 0
        for text, field, _, _ in Formatter().parse(entry["words"]):
            pattern, size = pattern + re.escape(text), size + len(text)
            if field is None:
                continue
            is_new = field.isidentifier() and field not in fields
            pattern += f"(?P<{field}>.+?)" if is_new else ".+?"
            fields.add(field)
        if size >= _LITERAL:
            patterns.append((re.compile(pattern, re.DOTALL), entry))
    return patterns


@cache
def _catalogue(file: str) -> dict[str, dict[str, str]]:
    import tomllib
    from importlib.resources import files

    text = files("autodiff_kit").joinpath("messages", f"{file}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def operands_refused(sign: str, left: str, right: str) -> Exception:
    """Return the error for an operator between a tensor and what is neither tensor nor number.

    ``left`` and ``right`` are names of types, one of them ``"Tensor"``.
    """
    if sign == "+" and left in ("bytes", "list", "str", "tuple"):  # what Python says of these
        return error("arguments.concatenated", left=left)
    if "complex" in (left, right):
        return error("arguments.complex_operand", sign=sign, left=left, right=right)
    return error("arguments.operands", sign=sign, left=left, right=right)


def warn_of_grad(stacklevel: int) -> None:
    """Warn, in PyTorch's words, that a non-leaf has no ``.grad``."""
    warnings.warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
        "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
        "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. "
        "If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor "
        "instead. See github.com/pytorch/pytorch/pull/30531 for more information.",
        UserWarning,
        stacklevel,
    )


def warn_of_scalar(stacklevel: int) -> None:
    """Warn, in PyTorch's words, that a number has left the graph."""
    warnings.warn(
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
        "Consider using tensor.detach() first.",
        UserWarning,
        stacklevel,
    )


def warn_of_arrays(stacklevel: int) -> None:
    """Warn, in PyTorch's words, that arrays in a list are read number by number."""
    warnings.warn(
        "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider "
        "converting the list to a single numpy.ndarray with numpy.array() before converting to a "
        "tensor.",
        UserWarning,
        stacklevel,
    )


def warn_of_transpose(ndim: int, stacklevel: int) -> None:
    """Warn, in PyTorch's words, that ``x.T`` is meant for matrices."""
    words = {
        0: "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.",
    }
    usual = (
        "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
        "deprecated and it will throw an error in a future release. Consider `x.mT` to transpose "
        "batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the "
        "dimensions of a tensor."
    )
    warnings.warn(words.get(ndim, usual), UserWarning, stacklevel)


def warn_of_cycle(stacklevel: int) -> None:
    """Warn, in PyTorch's words, that parameter and gradient hold each other."""
    warnings.warn(
        "Using backward() with create_graph=True will create a reference cycle between the "
        "parameter and its gradient which can cause a "
        "memory leak. We recommend using autograd.grad when creating the graph to avoid this. If "
        "you have to use this function, make sure to reset the .grad fields of your parameters "
        "to None after use to break the cycle and avoid the leak.",
        UserWarning,
        stacklevel,
    )


def warn_of_old_mask(stacklevel: int) -> None:
    """Warn, in PyTorch's words, of an index of dtype uint8."""
    warnings.warn(
        "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
        UserWarning,
        stacklevel,
    )


def warn_of_list_key(stacklevel: int) -> None:
    """Warn, in PyTorch's words, that ``x[[[0], [1]]]`` reads as ``x[[0], [1]]``."""
    warnings.warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated and will be "
        "changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be "
        "interpreted as tensor index, x[torch.tensor(seq)], which will result either in an error "
        "or a different result",
        UserWarning,
        stacklevel,
    )
