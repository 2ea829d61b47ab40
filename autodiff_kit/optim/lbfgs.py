"""LBFGS: steps by an estimate of the curvature, which past steps and gradients give.

After reading this file you know why ``step`` needs a closure: a single step computes the loss at
several places. All parameters are one vector here. Read next: ``optimizer.py``.

Source: Nocedal and Wright, Numerical optimization (2006), chapters 3 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from autodiff_kit.autograd.grad_mode import enable_grad, no_grad
from autodiff_kit.core.mode import local
from autodiff_kit.core.observer import installed
from autodiff_kit.creation import zeros_like
from autodiff_kit.errors import error
from autodiff_kit.functions import cat
from autodiff_kit.optim.optimizer import Optimizer, State
from autodiff_kit.outside import absent_in
from autodiff_kit.tensor import Tensor

__all__ = ["LBFGS"]

Number = Any  # of Python, or a 0-d tensor


@dataclass
class _Point:
    """A place on the line that is searched, and what is known of the loss there."""

    t: Number  # how many times the direction
    loss: float
    gradient: Tensor
    slope: Number  # along the direction


class LBFGS(Optimizer):
    """Step by the gradient times an estimate of the inverse Hessian.

    One call of ``step`` makes up to ``max_iter`` steps, and computes the loss up to ``max_eval``
    times. It ends early when no gradient is above ``tolerance_grad`` or nothing changes by more
    than ``tolerance_change``. ``history_size`` past steps give the estimate;
    ``line_search_fn="strong_wolfe"`` looks for the length of each step, which otherwise is ``lr``.

    ValueError for a negative learning rate or several groups of parameters.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise error("optim.lr_elements")
        if not lr >= 0.0:
            raise error("optim.negative", what="learning rate", value=lr)
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
            },
        )
        if len(self.param_groups) != 1:
            raise error("optim.one_group")
        self._params: list[Tensor] = self.param_groups[0]["params"]

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Make steps; ``closure`` computes the gradients anew and returns the loss.

        Returns the loss before the first of them.
        """
        observer = local.mode.observer
        versions = [p._version for p in self._params]

        def tell() -> None:
            for i, p in enumerate(self._params):
                if observer is not None and p._version != versions[i]:
                    versions[i] = p._version
                    observer.modified(p, f"{type(self).__name__}.step")

        def watched() -> Any:  # the learner's; all around it is the step's own
            tell()
            with enable_grad(), installed(observer):
                return closure()

        with no_grad(), installed(None):
            first = self._steps(watched)
        tell()
        return first

    def _steps(self, closure: Callable[[], Any]) -> Any:
        group, state = self.param_groups[0], self._state()
        lr, least, search = float(group["lr"]), group["tolerance_change"], group["line_search_fn"]
        first = closure()
        loss, gradient, evaluations = float(first), self._gradient(), 1
        state["func_evals"] += 1
        is_flat = _largest(gradient) <= group["tolerance_grad"]
        for k in range(0 if is_flat else group["max_iter"]):
            state["n_iter"] += 1
            state["d"] = d = self._direction(state, gradient, group["history_size"])
            state["prev_flat_grad"], state["prev_loss"] = gradient.clone(), loss
            t = lr
            if state["n_iter"] == 1:  # no curvature is known yet
                t = min(1.0, 1.0 / gradient.abs().sum()) * lr
            state["t"], slope = t, gradient.dot(d)
            if slope > -least:
                break
            further = 0
            if search is not None:
                if search != "strong_wolfe":
                    raise error("optim.line_search")
                line = self._line(closure, d)
                start = _Point(0, loss, gradient.clone(), slope)
                point, further = _strong_wolfe(line, start, t, d, group["max_eval"] - evaluations)
                loss, gradient, t = point.loss, point.gradient, point.t
                self._move(t, d)
                state["t"] = t
            else:
                self._move(t, d)
                if k + 1 < group["max_iter"]:
                    loss, gradient, further = float(closure()), self._gradient(), 1
            evaluations += further
            state["func_evals"] += further
            if (
                evaluations >= group["max_eval"]
                or _largest(gradient) <= group["tolerance_grad"]
                or _largest(d * t) <= least
                or abs(loss - state["prev_loss"]) < least
            ):
                break
        return first

    def _state(self) -> State:
        """Return what is remembered: all of it stands at the first parameter."""
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        return state

    def _direction(self, state: State, gradient: Tensor, history_size: int) -> Tensor:
        """Return where to go: the gradient times the estimate, by the two-loop recursion."""
        if state["n_iter"] == 1:
            state |= {"old_dirs": [], "old_stps": [], "ro": [], "H_diag": 1}
            return -gradient
        ys, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
        y, step = gradient - state["prev_flat_grad"], state["d"] * state["t"]
        curvature = y.dot(step)
        if curvature > 1e-10:
            if len(ys) == history_size:
                for remembered in (ys, steps, inverses):
                    remembered.pop(0)
            ys.append(y)
            steps.append(step)
            inverses.append(1.0 / curvature)
            state["H_diag"] = curvature / y.dot(y)
        parts = state.setdefault("al", [None] * history_size)
        q = -gradient
        for i in reversed(range(len(ys))):
            parts[i] = steps[i].dot(q) * inverses[i]
            q.add_(ys[i], alpha=-parts[i])
        direction: Tensor = q * state["H_diag"]
        for i in range(len(ys)):
            back = ys[i].dot(direction) * inverses[i]
            direction.add_(steps[i], alpha=parts[i] - back)
        return direction

    # -- all parameters as one vector ----------------------------------------------------------

    def _gradient(self) -> Tensor:
        each = (zeros_like(p) if p._grad is None else p._grad for p in self._params)
        return cat([g.reshape(-1) for g in each], 0)

    def _move(self, t: Number, direction: Tensor) -> None:
        offset = 0
        for p in self._params:
            p.add_(direction[offset : offset + p.numel()].view_as(p), alpha=t)
            offset += p.numel()

    def _line(self, closure: Callable[[], Any], direction: Tensor) -> Callable[[Number], _Point]:
        """Return a function that computes the loss along a direction, and leaves no trace."""
        start = [p.clone() for p in self._params]

        def at(t: Number) -> _Point:
            self._move(t, direction)
            loss, gradient = float(closure()), self._gradient()
            for p, before in zip(self._params, start, strict=True):
                p.copy_(before)
            return _Point(t, loss, gradient, gradient.dot(direction))

        return at


def _largest(vector: Tensor) -> Any:
    return vector.abs().max()


def _strong_wolfe(
    line: Callable[[Number], _Point], start: _Point, t: Number, d: Tensor, most: int
) -> tuple[_Point, int]:
    """Look for a point where the loss is lower, and its slope flatter, than at the start.

    Returns the point and how often the loss was computed.

    Source: Nocedal and Wright (2006), algorithms 3.5 and 3.6.
    """
    new, before, count = line(t), start, 1
    bracket: list[_Point] = []
    is_done = False

    def is_too_high(point: _Point) -> bool:
        return bool(point.loss > start.loss + 1e-4 * point.t * start.slope)

    def is_flat(point: _Point) -> bool:
        return bool(abs(point.slope) <= -0.9 * start.slope)

    while count <= most:  # go on until a minimum must lie behind
        if is_too_high(new) or (count > 2 and new.loss >= before.loss):
            bracket = [before, new]
        elif is_flat(new):
            bracket, is_done = [new], True
        elif new.slope >= 0:
            bracket = [before, new]
        if bracket:
            break
        bounds = new.t + 0.01 * (new.t - before.t), new.t * 10
        t = _cubic_minimum(before, new, bounds)
        before, new = new, line(t)
        count += 1
    bracket = bracket or [start, new]

    stuck, low = False, 0 if bracket[0].loss <= bracket[-1].loss else -1
    while not is_done and count <= most:  # then close in on it
        ends = [point.t for point in bracket]
        first, last = min(ends), max(ends)
        if (last - first) * _largest(d) < 1e-9:
            break
        t, margin = _cubic_minimum(bracket[0], bracket[1]), 0.1 * (last - first)
        is_near = min(last - t, t - first) < margin
        if is_near and (stuck or t >= last or t <= first):
            t = last - margin if abs(t - last) < abs(t - first) else first + margin
            stuck = False
        else:
            stuck = is_near
        new = line(t)
        count += 1
        high = -1 - low
        if is_too_high(new) or new.loss >= bracket[low].loss:
            bracket[high] = new
            low = 0 if bracket[0].loss <= bracket[1].loss else -1
        else:
            if is_flat(new):
                is_done = True
            elif new.slope * (bracket[high].t - bracket[low].t) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = new
    return bracket[low], count


def _cubic_minimum(a: _Point, b: _Point, bounds: tuple[Number, Number] | None = None) -> Number:
    """Return where the cubic through two points with these slopes is least, within bounds."""
    if a.t > b.t:
        a, b = b, a
    low, high = bounds or (a.t, b.t)
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square.sqrt()
    t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    return min(max(t, low), high)


__getattr__ = absent_in(__name__)
