"""Stories of tensors that do not fit: shapes, dtypes, several numbers where one is needed.

After reading you know how an error of an operation that never ran is told: by what stands in its
line, what shape or dtype each of these has, where that comes from, and what would fit. Read next:
``story_types.py``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from autodiff_kit.errors import advice_on
from autodiff_kit.view.rules import parsed
from autodiff_kit.view.story_code import Where, before_a_dot, span_of
from autodiff_kit.view.story_facts import Chapter, Facts, Told
from autodiff_kit.view.values import shape_text
from autodiff_kit.view.words import listed, sentence

__all__ = ["SHARED", "dtypes", "of_the_library", "one_number", "shapes", "truth"]

# NumPy's and math's functions of one argument that PyTorch has under the same name.
SHARED = """abs acos acosh asin asinh atan atanh ceil cos cosh deg2rad diff erf exp exp2 expm1
    floor isfinite isinf isnan lgamma log log10 log1p log2 max mean median min prod rad2deg
    round sign sin sinc sinh sqrt square std sum tan tanh trunc var"""


@dataclass(frozen=True)
class Operand:
    """A tensor in the line of the error."""

    text: str  # as the learner writes it there
    shape: tuple[int, ...]
    dtype: str
    node: int | None

    @property
    def owner(self) -> str:
        """What the learner writes for it before a dot: ``(w * 2)``."""
        return before_a_dot(self.text)


def shapes(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell which shapes do not go together."""
    operands = list(_operands(facts))
    layer = _layer(facts, operands)
    operands = layer or operands
    if not operands:
        return None
    chapters = _origins(facts, operands, lambda o: f"has shape {shape_text(o.shape)}")
    text, message = facts.text(facts.error["where"]), _message(facts)
    end, fix = "", ""
    if layer:
        end, fix = _for_layer(facts, *layer)
    elif len(operands) == 2 and ("@" in text or re.search(r"\b(matmul|mm|mv|bmm)\(", text)):
        end, fix = _for_product(text, *operands)
    elif len(operands) == 2 and "must match the size of tensor" in message:
        end, fix = _for_broadcast(text, *operands)
    elif sizes := re.search(r"shape '\[(.*)\]' is invalid for input of size (\d+)", message):
        end, fix = _for_sizes(
            text, [int(n) for n in sizes[1].split(",") if n.strip()], int(sizes[2])
        )
    chapters.append(Chapter(end or f"`{text}` is refused: {message}", None, facts.error["where"]))
    phrases = listed(f"`{o.text}` has shape {shape_text(o.shape)}" for o in operands)
    advice = advice_on(facts.error["type"], message) if end else _advice(facts)
    usual = ""
    if not advice and operands[0].text.isidentifier():
        usual = f"look at it in the line before: `print({operands[0].text}.shape)`"
    title = f"The shapes do not fit: {phrases}"
    if len(operands) == 1:
        shape = shape_text(operands[0].shape)
        title = f"`{text}` does not fit the shape of `{operands[0].text}`, {shape}"
    return title, chapters, _joined(fix or usual, advice)


def dtypes(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell which dtypes do not go together, or which one is refused."""
    all_operands = [*_operands(facts), *_parameters(facts)]
    operands = list({o.dtype: o for o in reversed(all_operands)}.values())[::-1]
    text, message = facts.text(facts.error["where"]), _message(facts)
    if not operands:
        return None
    classes = [o for o in _operands(facts) if o.dtype.startswith("float")]
    if re.search(r"(?i)(expected|one of).*\blong\b", message) and classes:
        operands = changed = [classes[-1]]
        convert = "long"
        end = f"`{text}` takes the numbers of classes or rows there: integers, of dtype int64."
    elif len(operands) > 1:
        dtype = "float32" if any(o.dtype == "float32" for o in operands) else "float64"
        changed = [o for o in operands if o.dtype != dtype]
        convert = "float" if dtype == "float32" else "double"
        end = f"`{text}` converts nothing by itself: all that enter it need one dtype."
    else:
        changed, convert = operands, "float"
        end = f"`{text}` is refused: {message}"
    chapters = _origins(facts, operands, lambda o: f"is of dtype {o.dtype}{_as_numpy(facts, o)}")
    chapters.append(Chapter(end, None, facts.error["where"]))
    phrases = listed(f"`{o.text}` is {o.dtype}" for o in operands)
    new = listed(f"`{o.owner}.{convert}()` instead of `{o.text}`" for o in changed)
    title = "The dtypes differ" if len(operands) > 1 else "This dtype is refused"
    fix = f"write {new}, best where it is made"
    return f"{title}: {phrases}", chapters, _joined(fix, _advice(facts))


def truth(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell that ``if`` needs one answer, and a tensor has several."""
    where = facts.error["where"]
    operand = _operand(facts, parsed(facts.text(where)))
    if where is None or operand is None:
        return None
    first = re.match(r"(el)?if\b|while\b|assert\b", facts.line(where))
    word = f"`{first[0]}`" if first else "Python"
    count, text, owner = prod(operand.shape), operand.text, operand.owner
    chapters = _origins(facts, [operand], lambda o: f"has shape {shape_text(o.shape)}")
    chapters = [chapter for chapter in chapters if chapter.where != where]
    words = f"{word} takes one of two branches, and `{text}` has {count} answers, one per element."
    chapters.append(Chapter(words, operand.node, where))
    fix = (
        f"say which answer counts: `{owner}.all()` or `{owner}.any()`; or choose element by "
        f"element, without `if`: `{facts.module}.where({text}, ..., ...)`"
    )
    return f"`{text}` has {count} answers, and {word} needs one", chapters, fix


def one_number(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell that several numbers stand where Python needs one."""
    operand = next(_operands(facts), None)
    if operand is None:
        return None
    text, count, owner = facts.text(facts.error["where"]), prod(operand.shape), operand.owner
    chapters = _origins(facts, [operand], lambda o: f"has shape {shape_text(o.shape)}")
    words = f"`{text}` makes a Python number, and `{operand.text}` holds {count}."
    chapters.append(Chapter(words, operand.node, facts.error["where"]))
    fix = f"reduce them, `{owner}.sum()`, or pick one of them"
    if function := of_the_library(facts, text):
        fix = f"use `{function}`, which takes all of them; or {fix}"
    return f"`{operand.text}` has {count} numbers, and one is needed", chapters, fix


def of_the_library(facts: Facts, call: str) -> str:
    """Return ``torch.sin(x)`` for ``np.sin(x)`` and ``math.sin(x)``; "" if there is none."""
    match parsed(call):
        case ast.Call(ast.Attribute(ast.Name("np" | "numpy" | "math"), name), [argument]):
            known = name in SHARED.split()
            return f"{facts.module}.{name}({ast.unparse(argument)})" if known else ""
    return ""


# -- what stands in the line -------------------------------------------------------------------


def _operands(facts: Facts) -> Iterator[Operand]:
    """Yield the tensors that the expression of the error is about, from left to right."""
    match parsed(facts.text(facts.error["where"])):
        case ast.BinOp(left=left, right=right):
            known = [_operand(facts, part) for part in (left, right)]
            parts = [left, right] if all(known) else []
        case ast.Compare(left=left, comparators=others):
            parts = [left, *others]
        case ast.Call(func=function, args=args, keywords=keywords):
            parts = [function.value] if isinstance(function, ast.Attribute) else []
            parts += [*args, *(k.value for k in keywords)]
        case ast.Subscript(value=value, slice=at):
            parts = [value, at]
        case _:
            parts = []
    for part in parts:
        items = part.elts if isinstance(part, ast.List | ast.Tuple) else [part]
        for item in items:
            if (operand := _operand(facts, item)) is not None:
                yield operand
            else:  # a list of tensors
                yield from _parts(facts, f"{ast.unparse(item)}[")


def _operand(facts: Facts, part: ast.expr | None) -> Operand | None:
    if part is None:
        return None
    text = ast.unparse(part)
    known = next(_parts(facts, text), None)
    if known is not None and known.text == text:
        return known
    if any(o["text"] == text for o in facts.error.get("operands", ())):
        return None  # no tensor
    node = facts.find(part)
    if node is None:
        return None
    value = facts.nodes[node]["value"]
    return Operand(text, tuple(value["shape"]), value["dtype"], node)


def _parts(facts: Facts, start: str) -> Iterator[Operand]:
    """Yield the tensors whose text begins like this."""
    for o in facts.error.get("operands", ()):
        if "shape" in o and o["text"].startswith(start):
            yield Operand(o["text"], tuple(o["shape"]), o["dtype"], o.get("node"))


def _parameters(facts: Facts) -> list[Operand]:
    """Return the parameters of the module that the line of the error calls."""
    match parsed(facts.text(facts.error["where"])):
        case ast.Call(func=function):
            return list(_parts(facts, f"{ast.unparse(function)}."))
    return []


def _layer(facts: Facts, operands: Sequence[Operand]) -> list[Operand]:
    """Return the weight of a linear layer and the input that does not fit it; [] if none does."""
    sizes = re.findall(r"(?<!\d)(\d+)x(\d+)(?!\d)", _message(facts))
    weights = [
        weight
        for weight in _parameters(facts)
        if len(weight.shape) == 2 and tuple(map(str, reversed(weight.shape))) in sizes[-1:]
    ]
    if not weights:
        return []
    first = tuple(map(int, sizes[0]))
    inputs = [o for o in operands if o.shape and o.shape[-1] == first[1]]
    for record in reversed(facts.nodes):  # inside of a network: what the layer before has made
        if not inputs and tuple(record["value"]["shape"]) == first:
            inputs.append(Operand(facts.name(record["id"]), first, "", record["id"]))
    return [inputs[0], weights[0]] if inputs else []


def _origins(
    facts: Facts, operands: Sequence[Operand], words: Callable[[Operand], str]
) -> list[Chapter]:
    """Return a chapter for each operand, and one for the leaf that what it says comes from."""
    groups: dict[int | str, list[Chapter]] = {}
    for operand in operands:
        node = operand.node
        place = _made(facts, operand)
        if node is None:
            groups[operand.text] = [Chapter(f"`{operand.text}` {words(operand)}.", None, place)]
            continue
        name = facts.base(facts.name(node))
        is_other = operand.text.isidentifier() and name.isidentifier() and name != operand.text
        description = f"`{operand.text}`" + f", which is `{name}`," * is_other
        place = facts.nodes[node]["where"] or place
        origin = _origin(facts, node, words)
        if origin == node:
            groups[node] = [Chapter(f"{description} {words(operand)}.", node, place)]
            continue
        first = f"`{facts.name(origin)}` {words(_of(facts, origin))}."
        then = f"`{facts.titled(node)}` is computed from it, and {words(operand)}, too."
        groups.pop(origin, None)
        groups[node] = [
            Chapter(first, origin, facts.nodes[origin]["where"]),
            Chapter(then, node, place),
        ]
    chapters = [chapter for group in groups.values() for chapter in group]
    return sorted(chapters, key=lambda chapter: tuple(chapter.where or ()))


def _origin(facts: Facts, node: int, words: Callable[[Operand], str]) -> int:
    """Return the leaf from which a node has its shape, or its dtype: by the op's inputs."""
    fact = words(_of(facts, node))
    while True:
        inputs = [i["node"] for i in facts.nodes[node]["inputs"] if "node" in i]
        alike = [n for n in inputs if words(_of(facts, n)) == fact]
        if not alike or facts.nodes[node]["kind"] == "leaf":
            return node
        node = alike[0]


def _made(facts: Facts, operand: Operand) -> Where | None:
    """Return where a name was given its tensor, or the layer that this is a parameter of."""
    names = operand.text.split(".")
    for end in range(len(names), 0, -1):
        if (assignment := facts.assigned(".".join(names[:end]))) is not None:
            return span_of(*assignment)
    return None


def _of(facts: Facts, node: int) -> Operand:
    value = facts.nodes[node]["value"]
    return Operand(facts.name(node), tuple(value["shape"]), value["dtype"], node)


# -- what would fit ----------------------------------------------------------------------------


def _for_layer(facts: Facts, input: Operand, weight: Operand) -> tuple[str, str]:
    """Return what a linear layer needs, and how it is made for this input."""
    outputs, inputs = weight.shape
    features = input.shape[-1]
    layer = weight.text.rpartition(".")[0]
    end = f"`{layer}` takes {inputs} features for each example, and `{input.text}` has {features}."
    fix = f"make `{layer}` for {features} features, or give it inputs of shape (..., {inputs})"
    line = facts.line(_made(facts, weight))
    if written := re.search(rf"Linear\({inputs}, *{outputs}", line):
        fix = f"write `Linear({features}, {outputs})` instead of `{written[0]})`"
        fix += f", or give it inputs of shape (..., {inputs})"
    return end, fix


def _for_sizes(text: str, sizes: list[int], count: int) -> tuple[str, str]:
    """Return how many elements a new shape has, and which shapes go."""
    product = prod(size for size in sizes if size >= 0)
    if -1 in sizes:
        end = f"The sizes of `{text}` multiply to {product}, which does not divide {count}."
        return end, f"give sizes whose product divides {count}, and -1 for the one to be worked out"
    end = f"`{text}` has {product} elements, and this tensor has {count}."
    return end, f"give sizes whose product is {count}, or -1 for the size to be worked out"


def _for_product(text: str, left: Operand, right: Operand) -> tuple[str, str]:
    """Return what a matrix product needs, and which one of these tensors would fit."""
    if not left.shape or not right.shape:
        return "", ""
    columns = left.shape[-1]
    rows = right.shape[-2] if len(right.shape) > 1 else right.shape[0]
    across, down = ("columns", "rows") if len(right.shape) > 1 else ("columns", "elements")
    across = across if len(left.shape) > 1 else "elements"
    end = (
        f"`{text}` multiplies along the {across} of `{left.text}`, {columns}, and the {down} of "
        f"`{right.text}`, {rows}. Both must be equally many."
    )
    fits = []
    if len(right.shape) == 2 and right.shape[1] == columns:
        fits.append(f"`{left.text} @ {right.owner}.T`")
    if len(left.shape) == 2 and left.shape[0] == rows:
        fits.append(f"`{left.owner}.T @ {right.text}`")
    if fits:
        return end, f"these would fit: {' or '.join(fits)}"
    return end, f"make `{left.text}` with {rows} {across}, or `{right.text}` with {columns} {down}"


def _for_broadcast(text: str, left: Operand, right: Operand) -> tuple[str, str]:
    """Return which sizes meet, and how one of the tensors gets the dimension it lacks."""
    meet = zip(reversed(left.shape), reversed(right.shape), strict=False)
    a, b = next(((m, n) for m, n in meet if m != n and 1 not in (m, n)), (0, 0))
    end = (
        f"`{text}` compares the shapes from the right: sizes must be equal, or one of them 1. "
        f"Here {a} meets {b}."
    )
    short, other = sorted((left, right), key=lambda o: len(o.shape))
    for at in range(len(short.shape), -1, -1) if len(short.shape) < len(other.shape) else ():
        shape = (*short.shape[:at], 1, *short.shape[at:])
        pairs = zip(reversed(shape), reversed(other.shape), strict=False)
        if all(m == n or 1 in (m, n) for m, n in pairs):
            return (
                end,
                f"`{short.owner}.unsqueeze({at})` has shape {shape_text(shape)} and would fit",
            )
    return end, f"make `{left.text}` and `{right.text}` of the same size"


def _as_numpy(facts: Facts, operand: Operand) -> str:
    """Say why a tensor holds 8-byte floats, where its line shows it."""
    if operand.dtype != "float64" or operand.node is None:
        return ""
    line = facts.line(facts.nodes[operand.node]["where"])
    return ", as NumPy's floats are" if re.search(r"\bnp\.|numpy", line) else ""


def _joined(fix: str, advice: str) -> str:
    """Return what fixes this error, and then what helps against all of its kind."""
    return f"{sentence(fix)} {advice}" if fix and advice else fix or advice


def _message(facts: Facts) -> str:
    """Return the first line of the error's message, without what is advised."""
    return facts.error["message"].split("\n")[0].split(" Hint:")[0].strip()


def _advice(facts: Facts) -> str:
    """Return the kit's advice on this error, from its message or, for PyTorch, by its words."""
    _, _, advice = facts.error["message"].partition("\n-> ")
    return " ".join(advice.split()) or advice_on(facts.error["type"], _message(facts))
