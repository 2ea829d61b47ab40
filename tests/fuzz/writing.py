"""Programs from a seed: templates, whose holes are filled by what fits the tensors that exist."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from tests.fuzz.wide_templates import WIDE_TEMPLATES, WIDE_WORDS
from tests.parity import require_torch

__all__ = ["FLAVOURS", "PRELUDE", "Writer"]

torch = require_torch()

PRELUDE = """
log = []

def told(value):
    if isinstance(value, (tuple, list)):
        return [told(item) for item in value]
    if value is None:
        return None
    with torch.no_grad():  # of a copy: zeros that PyTorch has no memory for are not told
        return value.clone().tolist(), value.requires_grad, str(value.dtype)

def hook(name, result=lambda *gradients: None):
    def run(*gradients):
        log.append((name, told(gradients)))
        return result(*gradients)
    return run
"""

# By section; "{x}" and the like are methods of Writer. A line of the form "3 * template" counts
# three times.
TEMPLATES = {
    "make": """
        6 * {new} = torch.tensor({data}{grad})
        3 * {new} = torch.tensor({number}{grad})
        2 * {new} = torch.randn({sizes}{grad})
        {new} = torch.rand({sizes}{grad})
        {new} = torch.ones({sizes}{grad})
        {new} = torch.zeros({sizes}{grad})
        {new} = torch.full(({sizes}), {number}{grad})
        2 * {new} = torch.arange({count}.{grad}).reshape({factors})
        {new} = torch.arange({count})
        {new} = torch.linspace(-1, {number}, {count}{grad})
        {new} = torch.eye({count}{grad})
        {new} = torch.tensor({data}, dtype=torch.{type})
        {new} = torch.tensor({data}, dtype=torch.float64{grad})
        {new} = torch.tensor({bools})
        {new} = torch.randint({small}, 5, ({sizes},))
        {new} = torch.from_numpy(np.array({data}))
        {new} = torch.zeros_like({x}{grad})
        {new} = torch.ones_like({x}{grad})
        {new} = torch.rand_like({f}{grad})
    """,
    "unary": """
        8 * {new} = {f}.{smooth}()
        3 * {new} = torch.{smooth}({f})
        {new} = {x}.{unary}()
        {new} = torch.{unary}({x})
        2 * {new} = -{x}
        {new} = abs({x})
        {new} = {x}.clamp({number}, {number})
        {new} = {x}.clamp(min={number})
        {new} = torch.clamp({x}, max={number})
        {new} = {x}.clamp(min={y})
        {new} = {x} ** {exponent}
        2 * {new} = {x}.pow({exponent})
        {new} = ~{x}
        {new} = {x}.isnan()
        2 * {new} = {x}.clone()
        {new} = {x}.contiguous()
    """,
    "binary": """
        8 * {new} = {x} {sign} {y}
        5 * {new} = {x} {sign} {number}
        3 * {new} = {number} {sign} {x}
        2 * {new} = {x}.{binary}({y})
        2 * {new} = torch.{binary}({x}, {y})
        {new} = torch.{binary}({x}, {number})
        {new} = {x}.{binary}({number})
        {new} = {x}.add({y}, alpha={number})
        {new} = {x}.sub({y}, alpha={number})
        {new} = {x} {odd_sign} {y}
        {new} = {x} {odd_sign} {number}
        {new} = {x} ** {y}
        {new} = {number} ** {x}
        {new} = {x}.div({y}, rounding_mode={rounding})
        2 * {new} = torch.where({x} > {number}, {same}, {y})
        {new} = torch.where({mask}, {x}, {number})
        {new} = torch.where({mask}, {x}, {y})
        {new} = {x}.masked_fill({x2} > 0, {number})
        {new} = {x} {comparison} {y}
        {new} = {x} {comparison} {number}
        {new} = {x} {bitwise} {y}
    """,
    "reduce": """
        4 * {new} = {x}.{reduction}()
        4 * {new} = {x}.{reduction}({dim})
        {new} = {x}.{reduction}({dim}, keepdim=True)
        {new} = {x}.{reduction}(dim={dim}, keepdim={truth})
        {new} = {x}.{reduction}(({dim}, {dim}))
        {new} = torch.{reduction}({x}, {dim})
        2 * {parts} = {x}.{extreme}({dim})
        {new} = {x}.{extreme}({dim}).values
        2 * {new} = {f}.cumsum({dim})
        {new} = {f}.softmax({dim})
        {new} = {f}.log_softmax({dim})
        {new} = {f}.logsumexp({dim})
        {new} = {f}.norm()
        {new} = {f}.norm({norm}, {dim})
        {new} = {f}.var({dim}, unbiased={truth})
        {new} = {f}.std()
        {parts} = {x}.sort({dim})
        {parts} = {x}.sort(descending={truth})
        {parts} = {x}.topk({small}, {dim})
        {new} = {x}.argmax({dim})
        {new} = {x}.argmin()
        {new} = {x}.all()
        {new} = {x}.any({dim})
        {new} = {x}.sum(axis={dim}, keepdims={truth})
        {new} = {x}.sum({dim}, dtype=torch.float64)
    """,
    "view": """
        4 * {new} = {x}[{key}]
        2 * {new} = {x}.t()
        2 * {new} = {x}.T
        2 * {new} = {x}.transpose({dim}, {dim})
        {new} = {x}.permute({order})
        2 * {new} = {x}.view({factors_of})
        2 * {new} = {x}.reshape({factors_of})
        2 * {new} = {x}.expand({wider})
        {new} = {x}.unsqueeze({dim})
        {new} = {x}.squeeze()
        {new} = {x}.squeeze({dim})
        {new} = {x}.flatten()
        {new} = {x}.flatten({dim}, {dim})
        {new} = {x}.narrow({dim}, {small}, {small})
        2 * {new} = {x}.detach()
        {new} = {x}.data
        2 * {parts} = {x}.unbind({dim})
        {parts} = {x}.split({small}, {dim})
        2 * {parts} = {x}.chunk({small}, {dim})
        {new} = {x}.chunk(2)[{small}]
        {new} = {x}.unbind()[0]
        {new} = {x}.split([1, {small}])[0]
        {parts} = [row for row in {x}]
        {new} = {x}[:]
        {new} = {x}[...]
        {new} = {x}.view(-1)
        {new} = {x}.reshape(-1)
        {new} = torch.from_numpy({x}.detach().numpy())
    """,
    "move": """
        3 * {new} = {x}[{odd_key}]
        2 * {new} = torch.cat([{x}, {same}], {dim})
        {new} = torch.cat([{x}, {y}])
        2 * {new} = torch.stack([{x}, {same}])
        {new} = torch.stack([{x}, {same}], {dim})
        {new} = {x}.flip({dim})
        {new} = {x}.repeat({small}, {small})
        {new} = {x}.gather({dim}, {index})
        {new} = {x}.index_select({dim}, {index})
        {new} = {x}.masked_select({x2} > 0)
        {new} = {x}.scatter({dim}, {index}, {y})
        {new} = {x}.index_add({dim}, {index}, {y})
    """,
    "matrix": """
        6 * {new} = {x} @ {right}
        2 * {new} = torch.matmul({x}, {right})
        {new} = {x}.mm({right})
        {new} = {x}.mv({right})
        {new} = {x}.dot({right})
        {new} = {x}.outer({y})
        {new} = {x} @ {x2}.T
        {new} = {x}.T @ {x2}
        {new} = torch.addmm({y}, {x}, {right})
        {new} = torch.einsum("ij,jk->ik", {x}, {right})
        {new} = torch.einsum("i,i->", {x}, {y})
        {new} = torch.einsum("ij->ji", {x})
    """,
    "convert": """
        2 * {new} = {x}.double()
        {new} = {x}.float()
        {new} = {x}.long()
        {new} = {x}.bool()
        {new} = {x}.to(torch.{type})
        {new} = {x}.type_as({x2})
        {new} = torch.tensor({x}.tolist(){grad})
    """,
    "in_place": """
        6 * {x}.{binary_}({y})
        6 * {x}.{binary_}({number})
        3 * {x} {sign}= {y}
        3 * {x} {sign}= {number}
        4 * {x}.{unary_}()
        2 * {x}.zero_()
        2 * {x}.fill_({number})
        {x}.fill_({y})
        3 * {x}.copy_({y})
        {x}.clamp_({number}, {number})
        {x}.masked_fill_({x2} > 0, {number})
        {x}.add_({y}, alpha={number})
        {x}.index_add_({dim}, {index}, {y})
        {x}.scatter_({dim}, {index}, {number})
        {x}.cumsum_({dim})
        {new} = {x}.{binary_}({y})
        {new} = {x}.{unary_}()
        2 * {x}[{key}].{unary_}()
        2 * {x}[{key}].{binary_}({number})
        {x}.t().{binary_}({number})
        {x}.view(-1).{unary_}()
    """,
    "assign": """
        5 * {x}[{key}] = {number}
        5 * {x}[{key}] = {y}
        2 * {x}[{odd_key}] = {number}
        2 * {x}[{odd_key}] = {y}
        {x}[{x2} > {number}] = {number}
        {x}[{x2} > {number}] = {y}
        2 * {x}[{key}] {sign}= {number}
        2 * {x}[{key}] {sign}= {y}
        {x}[{key}][{small}] = {number}
        {x}.t()[{small}] = {number}
        {x}[...] = {y}
        {x}[{small}] = {x}[{small}]
    """,
    "backward": """
        6 * {g}.sum().backward({how})
        2 * {scalar}.backward({how})
        2 * {g}.backward(torch.ones_like({same}){and_how})
        {g}.backward({same}{and_how})
        {g}.backward({how})
        ({g} * {g2}).sum().backward({how})
        ({g} ** 2).mean().backward({how})
        torch.autograd.backward([{g}.sum(), {g2}.sum()]{and_how})
        {g}.sum().backward(inputs=[{g2}]{and_how})
        {g}.sum().backward(inputs=[{leaf}]{and_how})
    """,
    "gradient": """
        4 * {new}, = torch.autograd.grad({g}.sum(), {g2}{options})
        2 * {parts} = torch.autograd.grad({g}.sum(), [{g2}, {g3}]{options})
        {parts} = torch.autograd.grad({g}.sum(), [{leaf}, {g2}]{options})
        2 * {new}, = torch.autograd.grad({g}.sum(), {leaf}, create_graph=True)
        {new}, = torch.autograd.grad({g}, {g2}, {same}{options})
        {new}, = torch.autograd.grad({g}, {g2}, torch.ones_like({same}){options})
        {parts} = torch.autograd.grad([{g}.sum(), {g2}.mean()], [{leaf}]{options})
    """,
    "leaf": """
        2 * {x}.requires_grad_()
        {x}.requires_grad_({truth})
        {x}.requires_grad = {truth}
        {new} = {x}.detach().requires_grad_()
        {x}.detach_()
        {new} = {x}.detach_()
        {leaf}.grad = None
        {leaf}.grad.zero_()
        {leaf}.grad = {same}
        {new} = {leaf}.grad
        {new} = {leaf}.grad.clone()
        {x}.data = {same}
        {x}.data = {y}.data
        {x}.data.{unary_}()
        {x}.data[{key}] = {number}
        {new} = {x}.detach().{unary_}()
        {x} = {x2}
        {x} = {x2}.clone()
        {x} = {x} * {number}
        del {x}
    """,
    "hooks": """
        4 * {g}.retain_grad()
        3 * {g}.register_hook(hook("{letter}"))
        3 * {g}.register_hook(hook("{letter}", lambda g: g * {number}))
        {g}.register_hook(hook("{letter}", lambda g: g + {y}))
        {g}.register_hook(lambda g: log.append(g.grad_fn is None))
        {h} = {g}.register_hook(hook("{letter}", lambda g: g.clamp(-1, 1)))
        {h}.remove()
        3 * {leaf}.register_post_accumulate_grad_hook(lambda p: log.append(("{letter}", p.grad.tolist())))
        {leaf}.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None))
        2 * {node}.grad_fn.register_hook(hook("{letter}"))
        {node}.grad_fn.register_hook(hook("{letter}", lambda i, o: tuple(g if g is None else g * 2 for g in i)))
        2 * {node}.grad_fn.register_prehook(hook("{letter}"))
        {node}.grad_fn.register_prehook(hook("{letter}", lambda o: tuple(g if g is None else g * 3 for g in o)))
        {node}.grad_fn.next_functions[0][0].register_prehook(hook("{letter}"))
        {node}.grad_fn.next_functions[0][0].register_hook(hook("{letter}"))
        torch.autograd.graph.register_multi_grad_hook(({g}, {g2}), hook("{letter}"))
    """,  # noqa: E501
    "function": """
        6 * {new} = {One}.apply({f})
        3 * {new} = {Two}.apply({f}, {y})
        3 * {parts} = {Several}.apply({f}, {y})
        2 * {new} = {With}.apply({f}, {number})
        2 * {new} = {Dirty}.apply({f})
        {Dirty}.apply({f}[{key}])
        {new} = {Dirty}.apply({f}.clone())
    """,
    "layers": """
        {new} = F.relu({f})
        {new} = F.leaky_relu({f}, {number})
        {new} = F.gelu({f})
        {new} = F.softplus({f})
        2 * {new} = F.dropout({f}, 0.5)
        {new} = F.mse_loss({f}, {y})
        {new} = F.l1_loss({f}, {y})
        {new} = F.mse_loss({f}, {y}, reduction={by})
        {new} = F.cross_entropy({f}, {classes})
        {new} = F.cross_entropy({f}, {same}.softmax(-1))
        {new} = F.nll_loss({f}.log_softmax(-1), {classes})
        {new} = F.binary_cross_entropy({f}.sigmoid(), ({same} > 0).float())
        {new} = F.binary_cross_entropy_with_logits({f}, ({same} > 0).float())
        {new} = F.huber_loss({f}, {y})
        {new} = F.linear({f}, {right}.t())
        {new} = F.linear({f}, {right}.t(), {f2})
        {new} = F.layer_norm({f}, {f}.shape[-1:])
        {new} = F.one_hot({x})
        2 * {new} = torch.nn.Linear({last}, 2)({it})
        {new} = torch.nn.Sequential(torch.nn.Linear({last}, 2), torch.nn.Tanh())({it})
        torch.optim.SGD([{leaf}], lr=0.1).step()
        torch.optim.SGD([{leaf}], lr=0.1, momentum=0.9).step()
        torch.optim.Adam([{leaf}], lr=0.1).step()
        torch.nn.utils.clip_grad_norm_([{leaf}], 1.0)
    """,
    "ask": """
        4 * {answer} = repr({x})
        {answer} = str({x}.shape), {x}.dtype == torch.float32
        {answer} = {x}.tolist()
        2 * {answer} = {x}.item()
        {answer} = float({x})
        {answer} = int({x})
        {answer} = bool({x})
        {answer} = len({x})
        {answer} = {x}.is_contiguous()
        {answer} = {x}.numpy().tolist()
        {answer} = {x} is {x2}
        {answer} = {x}._base is {x2}
        {answer} = {x}.data_ptr() == {x2}.data_ptr()
        {answer} = torch.allclose({x}, {x2})
        {answer} = torch.equal({x}, {x2})
        {answer} = {x}.output_nr
        {answer} = str({x}.grad_fn).split(" ")[0]
        {answer} = {x}.sum().item() if {x}.requires_grad else None
        {answer} = [row.sum().item() for row in {x}]
        {answer} = np.sqrt({f}) if not {f}.requires_grad else None
        {answer} = {x}.retains_grad
    """,
    "structure": """
        2 * for i in range({small}):\n    {x} = {it} {sign} {y}
        for i in range({small}):\n    {x} {sign}= {number}
        for row in {x}:\n    {new} = row * {number}
        if {x}.sum() > 0.123:\n    {new} = {x} * {number}\nelse:\n    {new} = {x} + {number}
        {new} = checkpoint(lambda v: v.sin() * {number}, {f}, use_reentrant=False)
        with torch.autograd.graph.saved_tensors_hooks(lambda v: v * 2, lambda v: v / 2):\n    {new} = {f} * {y}
        {new} = torch.autograd.functional.vjp(lambda v: v.sin() * {number}, {f}, {same})[1]
        {new} = torch.autograd.functional.jacobian(lambda v: v * {y}, {f})
        torch.set_grad_enabled({truth})
    """,  # noqa: E501
}
MODES = (
    *("torch.no_grad()", "torch.no_grad()", "torch.no_grad()", "torch.enable_grad()"),
    *("torch.inference_mode()", "torch.set_grad_enabled(False)"),
)
# What a program is mostly about: how often each section is drawn.
_COMMON = {
    "unary": 4,
    "binary": 6,
    "reduce": 4,
    "view": 3,
    "move": 1,
    "matrix": 1,
    "make": 1,
    "convert": 1,
    "backward": 2,
    "gradient": 2,
    "leaf": 1,
    "ask": 1,
    "in_place": 1,
    "assign": 1,
    "layers": 1,
    "structure": 1,
}
FLAVOURS: dict[str, dict[str, int]] = {
    "values": _COMMON | {"reduce": 8, "move": 4, "matrix": 4, "convert": 2, "layers": 5},
    "views": _COMMON | {"view": 14, "in_place": 10, "assign": 8, "leaf": 3, "hooks": 1},
    "hooks": _COMMON | {"hooks": 10, "backward": 6, "gradient": 4, "view": 5, "in_place": 3},
    "functions": _COMMON | {"function": 12, "backward": 4, "view": 5, "in_place": 4, "hooks": 2},
    "everything": dict.fromkeys(TEMPLATES, 3) | {"structure": 1, "make": 2},
    "wide": _COMMON | dict.fromkeys(WIDE_TEMPLATES, 3) | {"chains": 8, "view": 6, "backward": 6},
}
_DRAWN = tuple(name for name in FLAVOURS if name != "wide")  # that is asked for by its name
TEMPLATES |= WIDE_TEMPLATES

FUNCTIONS = {
    "One": {
        "Triple": """
    def forward(ctx, x): return x * 3
    def backward(ctx, g): return g * 3""",
        "Square": """
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    def backward(ctx, g): return g * 2 * ctx.saved_tensors[0]""",
        "Exp": """
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    def backward(ctx, g): return g * ctx.saved_tensors[0]""",
        "Same": """
    def forward(ctx, x): return x
    def backward(ctx, g): return g * 2""",
        "Flipped": """
    def forward(ctx, x): return x.t()
    def backward(ctx, g): return g.t()""",
        "First": """
    def forward(ctx, x): return x[:1]
    def backward(ctx, g): return g.expand(2, *g.shape[1:])""",
        "Once": """
    def forward(ctx, x): return x * 2
    @torch.autograd.function.once_differentiable
    def backward(ctx, g): return g * 2""",
        "Nothing": """
    def forward(ctx, x): return x * 2
    def backward(ctx, g): return None""",
        "Less": """
    def forward(ctx, x): return x.sum()
    def backward(ctx, g): return g""",
        "Noted": """
    def forward(ctx, x): return x.sin()
    def backward(ctx, g):
        log.append((ctx.needs_input_grad, torch.is_grad_enabled(), g.tolist()))
        return g.cos()""",
        "NoBackward": """
    def forward(ctx, x): return x * 2""",
        "Later": """
    def forward(x): return x * x
    def setup_context(ctx, inputs, output): ctx.save_for_backward(*inputs)
    def backward(ctx, g): return g * 2 * ctx.saved_tensors[0]""",
        "Whole": """
    def forward(ctx, x):
        y = x > 0
        ctx.mark_non_differentiable(y)
        return y
    def backward(ctx, g): return None""",
    },
    "Two": {
        "Times": """
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x""",
        "Left": """
    def forward(ctx, x, y): return x + y
    def backward(ctx, g): return g, None""",
        "Needed": """
    def forward(ctx, x, y):
        ctx.shapes = x.shape, y.shape
        return x.sum() + y.sum()
    def backward(ctx, g):
        log.append(ctx.needs_input_grad)
        needs = zip(ctx.needs_input_grad, ctx.shapes)
        return tuple(g.expand(s) if n else None for n, s in needs)""",
        "TooFew": """
    def forward(ctx, x, y): return x * y
    def backward(ctx, g): return g""",
    },
    "Several": {
        "Both": """
    def forward(ctx, x, y): return x + y, x * 2
    def backward(ctx, g, h):
        log.append((told(g), told(h)))
        return g + 2 * h, g""",
        "Partly": """
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x * 2, y * 3
    def backward(ctx, g, h):
        log.append((g is None, h is None))
        return g, h""",
        "Places": """
    def forward(ctx, x, y):
        values, places = x.sort()
        ctx.mark_non_differentiable(places)
        ctx.save_for_backward(places)
        return values, places
    def backward(ctx, g, h):
        return torch.zeros_like(g).scatter(-1, ctx.saved_tensors[0], g), None""",
        "Twice": """
    def forward(ctx, x, y):
        z = x * 2
        return z, z
    def backward(ctx, g, h): return g + h, None""",
    },
    "With": {
        "Scaled": """
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor
    def backward(ctx, g): return g * ctx.factor, None""",
        "Wrongly": """
    def forward(ctx, x, factor): return x * factor
    def backward(ctx, g): return g, g""",
    },
    "Dirty": {
        "Doubled": """
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x
    def backward(ctx, g): return g * 2""",
        "Unmarked": """
    def forward(ctx, x):
        x.mul_(2)
        return x
    def backward(ctx, g): return g * 2""",
    },
}


def _class(name: str, body: str) -> str:
    body = re.sub(r"\n    def ", r"\n    @staticmethod\n    def ", body)
    body = re.sub(
        r"(\n    @torch.autograd.function.once_differentiable)(\n    @staticmethod)", r"\2\1", body
    )
    return f"class {name}(torch.autograd.Function):{body}"


CLASSES = {name: _class(name, body) for kind in FUNCTIONS.values() for name, body in kind.items()}


@cache
def _parsed(section: str) -> list[list[str]]:
    """Return the templates of a section, each as often as it counts, cut at their holes."""
    templates = []
    for text in TEMPLATES[section].strip().split("\n        "):
        count, _, template = (
            text.strip().partition(" * ") if text.strip()[0].isdigit() else (1, "", text.strip())
        )
        templates += [re.split(r"\{(\w+)\}", template)] * int(count)
    return templates


class Nothing(Exception):
    """There is nothing that could fill a hole."""


_SHAPES = (
    *((), (), (1,), (2,), (3,), (3,), (2, 3), (2, 3), (3, 2), (2, 2), (2, 2), (3, 3), (1, 3)),
    *((2, 1), (4,), (2, 3, 2), (2, 2, 2), (1, 2, 3), (2, 1, 3), (4, 4), (0,), (2, 0), (0, 3), (5,)),
)
_NUMBERS = ["2", "3", "2.", "0.5", "1.5", "-1", "-2.", "1", "0", "0.1", "4.", "-0.5", "10"]
_RARE = ["True", "float('inf')", "float('nan')", "10**6", "1e-5", "-float('inf')", "300"]
_SMOOTH = ["exp", "sin", "cos", "tanh", "sigmoid", "relu", "square", "neg", "abs", "sqrt", "log"]
_UNARY = [
    *("exp", "log", "log1p", "expm1", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tan"),
    *("tanh", "sigmoid", "relu", "abs", "neg", "sign", "floor", "ceil", "round", "square"),
]
_BINARY = [
    *("add", "sub", "mul", "div", "pow", "maximum", "minimum", "remainder", "floor_divide"),
    *("eq", "lt", "ge"),
]
_TYPES = ["float64", "float32", "int64", "int32", "uint8", "bool", "float64", "int64"]
_WORDS: dict[str, list[str]] = {
    "number": _NUMBERS * 6 + _RARE,
    "exponent": ["2", "3", "2", "2", "0", "1", "0.5", "-1", "2.", "-0.5", "1.5", "-2"],
    "smooth": _SMOOTH,
    "unary": _UNARY,
    "unary_": [f"{name}_" for name in _UNARY],
    "binary": _BINARY,
    "binary_": [
        "add_",
        "add_",
        "sub_",
        "mul_",
        "mul_",
        "div_",
        "pow_",
        "remainder_",
        "floor_divide_",
    ],
    "sign": ["+", "+", "-", "*", "*", "/"],
    "odd_sign": ["%", "//"],
    "comparison": [">", "<", ">=", "<=", "==", "!="],
    "bitwise": ["&", "|", "^"],
    "rounding": ['"floor"', '"trunc"'],
    "reduction": [
        "sum",
        "sum",
        "sum",
        "mean",
        "mean",
        "prod",
        "amax",
        "amin",
        "max",
        "min",
        "logsumexp",
    ],
    "extreme": ["max", "min"],
    "norm": ["1", "2", "2", "3", "0", "float('inf')", "-1", "0.5"],
    "truth": ["True", "False"],
    "small": ["0", "1", "1", "2", "2", "3", "-1"],
    "count": ["1", "2", "3", "4", "6", "6", "12"],
    "type": _TYPES,
    "by": ['"sum"', '"none"', '"mean"'],
    "grad": ["", ", requires_grad=True", ", requires_grad=True"],
    "how": ["", "", "", "retain_graph=True", "retain_graph=True", "create_graph=True"],
    "letter": list("abcd"),
    "h": ["h", "h2"],
    "answer": ["r", "r", "s"],
    "options": [
        *("", "", ", retain_graph=True", ", create_graph=True", ", allow_unused=True"),
        *(", allow_unused=True, retain_graph=True", ", materialize_grads=True"),
        ", create_graph=True, materialize_grads=True",
    ],
} | WIDE_WORDS
_NAMES = "abcdefgmnpquvwxyz"


class Writer:
    """Writes the lines of one program.

    Attributes
    ----------
    values : dict
        The names of the program as far as it has run, with PyTorch's objects.
    """

    def __init__(self, seed: int, values: dict[str, Any], flavour: str = "") -> None:
        self.random = Random(seed)
        self.values = values
        flavour = flavour or self.random.choice(_DRAWN)
        weights = FLAVOURS[flavour]
        self._sections, self._weights = list(weights), list(weights.values())
        self.length = self.random.randint(3, 12)
        self._leaves = self.random.randint(1, 3)
        self._line_count = 0
        self._x: Any = None

    def lines(self) -> list[str]:
        """Return the next line; in front of it the classes that it needs; [] at the end."""
        self._line_count += 1
        if self._line_count > self._leaves + self.length:
            return []
        if self._line_count <= self._leaves:
            section = "make"
        else:
            (section,) = self.random.choices(self._sections, self._weights)
        for _ in range(30):
            try:
                text = self._filled(section)
                break
            except Nothing:
                (section,) = self.random.choices(self._sections, self._weights)
        else:
            return []
        classes = [CLASSES[n] for n in self._needed if n not in self.values]
        if self._line_count > self._leaves and self.random.random() < 0.09:
            mode = self.random.choice(MODES)
            text = f"with {mode}:\n    " + text.replace("\n", "\n    ")
        return [*classes, text]

    def _filled(self, section: str) -> str:
        self._needed: list[str] = []
        self._x = None
        self._tensors = self._all_tensors()
        parts = self.random.choice(_parsed(section)).copy()
        for i in range(1, len(parts), 2):
            words = _WORDS.get(parts[i])
            parts[i] = self.random.choice(words) if words else getattr(self, parts[i])()
        return "".join(parts).replace("\\n", "\n")

    # -- tensors -------------------------------------------------------------------------------

    def _all_tensors(self) -> list[tuple[str, Any]]:
        tensors = []
        for name, value in self.values.items():
            if name not in _SPECIAL:
                if isinstance(value, torch.Tensor):
                    tensors.append((name, value))
                elif isinstance(value, tuple | list) and value and name[0] == "k":
                    i = self.random.randrange(len(value))
                    if isinstance(value[i], torch.Tensor):
                        tensors.append((f"{name}[{i}]", value[i]))
        return tensors

    def _pick(self, fits: Callable[[Any], Any], remember: bool = True) -> str:
        try:
            tensors = [pair for pair in self._tensors if fits(pair[1])]
        except RuntimeError:  # a view whose base was changed refuses to say what it is
            tensors = []
        if not tensors:
            raise Nothing
        # The youngest more often, so that lines build on each other.
        i = int(len(tensors) * self.random.random() ** 0.6)
        name, value = tensors[i]
        if remember:
            self._x, self._it = value, name
        return name

    def x(self) -> str:
        return self._pick(lambda t: True)

    def x2(self) -> str:
        x = self._x
        return self._pick(lambda t: t.shape == x.shape, remember=False)

    def f(self) -> str:
        return self._pick(lambda t: t.is_floating_point())

    def f2(self) -> str:
        return self._pick(lambda t: t.is_floating_point(), remember=False)

    def g(self) -> str:
        return self._pick(lambda t: t.requires_grad)

    def g2(self) -> str:
        return self._pick(lambda t: t.requires_grad, remember=False)

    g3 = g2

    def scalar(self) -> str:
        return self._pick(lambda t: t.requires_grad and t.numel() == 1)

    def leaf(self) -> str:
        # A view is not asked: it would look for its history, in PyTorch alone.
        return self._pick(lambda t: t.requires_grad and not t._is_view() and t.is_leaf)

    def node(self) -> str:
        return self._pick(lambda t: t.grad_fn is not None)

    def mask(self) -> str:
        return self._pick(lambda t: t.dtype == torch.bool, remember=False)

    def index(self) -> str:
        if self.random.random() < 0.3:
            return "torch.tensor([{}])".format(
                ", ".join(str(self.random.randrange(2)) for _ in range(self.random.randint(1, 3)))
            )
        return self._pick(lambda t: not t.is_floating_point(), remember=False)

    def classes(self) -> str:
        rows = self._x.shape[0] if self._x.ndim > 1 else 0
        return f"torch.tensor({[self.random.randrange(2) for _ in range(rows)] if rows else 0})"

    def same(self) -> str:
        """Name a tensor of the shape and dtype of the last one, seldom any."""
        x = self._x
        if x is None or self.random.random() < 0.03:
            return self._pick(lambda t: True, remember=False)
        return self._pick(lambda t: t.shape == x.shape and t.dtype == x.dtype, remember=False)

    def y(self) -> str:
        """Name a tensor that broadcasts with the last one; seldom any."""
        x = self._x
        if x is None or self.random.random() < 0.06:
            return self._pick(lambda t: True, remember=False)
        shape = x.shape
        return self._pick(
            lambda t: all(
                n == m or n == 1 or m == 1 for n, m in zip(t.shape[::-1], shape[::-1], strict=False)
            ),
            remember=False,
        )

    def right(self) -> str:
        """Name a right factor of a matrix product."""
        x = self._x
        if x is None or self.random.random() < 0.05:
            return self._pick(lambda t: True, remember=False)
        return self._pick(
            lambda t: (
                t.ndim
                and x.ndim
                and t.shape[-2 if t.ndim > 1 else 0] == x.shape[-1]
                and t.dtype == x.dtype
            ),
            remember=False,
        )

    def last(self) -> str:
        """Write the last size of some tensor of floats; ``it`` names that."""
        self.f()
        return self.width()

    def it(self) -> str:
        return self._it

    def width(self) -> str:
        """Write again what ``last`` has written."""
        return str(self._x.shape[-1]) if self._x.ndim else "1"

    def new(self) -> str:
        if self.random.random() < 0.12:
            return self._pick(lambda t: True, remember=False).split("[")[0]
        return self._fresh(_NAMES)

    def parts(self) -> str:
        return self._fresh(("k", "k2", "k3", "k4", "k5"))

    def _fresh(self, names: Any) -> str:
        for name in names:
            if name not in self.values:
                return str(name)
        return str(self.random.choice(names))

    # -- functions of the learner's own ----------------------------------------------------------

    def _function(self, kind: str) -> str:
        name = self.random.choice(tuple(FUNCTIONS[kind]))
        self._needed.append(name)
        return name

    def One(self) -> str:
        return self._function("One")

    def Two(self) -> str:
        return self._function("Two")

    def Several(self) -> str:
        return self._function("Several")

    def With(self) -> str:
        return self._function("With")

    def Dirty(self) -> str:
        return self._function("Dirty")

    # -- numbers, sizes, keys ---------------------------------------------------------------------

    def _nested(self, shape: tuple[int, ...], draw: Callable[[], Any]) -> Any:
        if not shape:
            return draw()
        return [self._nested(shape[1:], draw) for _ in range(shape[0])]

    def data(self) -> str:
        whole = self.random.random() < 0.25
        values = (0.0, 1.0, -1.0, 2.0, 0.5, 1.0) if whole else None

        def draw() -> float:
            return self.random.choice(values) if values else self.random.randint(-25, 25) / 10

        return str(self._nested(self.random.choice(_SHAPES), draw))

    def bools(self) -> str:
        return str(self._nested(self.random.choice(_SHAPES), lambda: self.random.random() < 0.5))

    def sizes(self) -> str:
        return ", ".join(map(str, self.random.choice(_SHAPES[2:]))) or "1"

    def factors(self) -> str:
        return self.random.choice(("-1", "2, -1", "-1, 3", "3, 2", "-1, 2", "1, -1", "2, 3"))

    def factors_of(self) -> str:
        x = self._x
        count = x.numel()
        choices = ["-1", f"{count}", f"1, {count}", f"{count}, 1", "-1, 1"]
        for n in (2, 3):
            if count and count % n == 0:
                choices += [f"{n}, {count // n}", f"{count // n}, {n}", f"{n}, -1"]
        if self.random.random() < 0.05:
            choices = ["2, 5", "-1, -1", "7"]
        return self.random.choice(choices)

    def wider(self) -> str:
        sizes = [n if n != 1 else self.random.choice((1, 2, 3)) for n in self._x.shape]
        if self.random.random() < 0.5 or not sizes:
            sizes.insert(0, self.random.choice((1, 2, 3)))
        if self.random.random() < 0.2:
            sizes[-1] = self.random.choice((-1, 2, 3))
        return ", ".join(map(str, sizes))

    def dim(self) -> str:
        n = max(self._x.ndim, 1)
        if self.random.random() < 0.03:
            return str(n)
        return str(self.random.randrange(-n, n))

    def order(self) -> str:
        dims = list(range(self._x.ndim))
        self.random.shuffle(dims)
        return ", ".join(map(str, dims))

    def and_how(self) -> str:
        how = self.random.choice(_WORDS["how"])
        return f", {how}" if how else ""

    def key(self) -> str:
        """Write a basic index for the last tensor."""
        shape = self._x.shape
        choose = self.random.random
        if not shape or choose() < 0.06:
            return self.random.choice(("...", "None", "()", "0", "..., None"))
        keys: list[str] = []
        for n in shape[: self.random.randint(1, len(shape))]:
            kind = choose()
            if kind < 0.4:
                keys.append(str(self.random.randrange(-n, n)) if n and choose() < 0.97 else "5")
            elif kind < 0.92:
                keys.append(
                    self.random.choice((":", "1:", ":1", "::2", "0:2", ":-1", "-1:", "1:1"))
                )
            elif kind < 0.96:
                keys.append("None")
            else:
                keys.append("...")
                break
        return ", ".join(keys)

    def odd_key(self) -> str:
        """Write an index with lists, tensors or masks."""
        x, choose = self._x, self.random.choice
        if not x.ndim:
            return choose(("True", "x > 0", "None", "torch.tensor(True)"))
        n = max(x.shape[0], 1)
        rows = [self.random.randrange(-n, n) for _ in range(self.random.randint(1, 3))]
        mask = [self.random.random() < 0.5 for _ in range(x.shape[0])]
        keys = [f"{rows}", f"torch.tensor({rows})", f"torch.tensor({mask}, dtype=torch.bool)"]
        if x.ndim > 1:
            m = max(x.shape[1], 1)
            columns = [self.random.randrange(m) for _ in rows]
            keys += [f"{rows}, {columns}", f":, {columns}", f"{rows}, 0", f"..., {rows}"]
            keys += [f"{rows}, :1", f"torch.tensor({rows}), None", f"{mask}"]
        return choose(keys)


_SPECIAL = {"torch", "F", "np", "log", "hook", "told", "checkpoint"}
