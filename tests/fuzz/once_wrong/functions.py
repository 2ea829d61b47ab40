"""Functions that several of the programs define."""


def function_text(name: str, forward: str, backward: str) -> str:
    """Return the lines of a Function; those of its two methods begin inside the brackets."""
    return f"""class {name}(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x{forward}
    @staticmethod
    def backward(ctx, {backward}"""


UNMARKED = function_text("Unmarked", "):\n        x.mul_(2)\n        return x", "g): return g * 2")
DIRTY = function_text(
    "Dirty",
    "):\n        ctx.mark_dirty(x)\n        x.mul_(2)\n        return x",
    "g): return g * 2",
)
PARTLY = function_text(
    "Partly",
    ", y):\n        ctx.set_materialize_grads(False)\n        return x * 2, y * 3",
    "g, h): return g, h",
)
TIMES = function_text(
    "Times",
    ", y):\n        ctx.save_for_backward(x, y)\n        return x * y",
    "g):\n        x, y = ctx.saved_tensors\n        return g * y, g * x",
)
