"""Grad modes: what is recorded, and that every mode is put back."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import autodiff_kit as torch
from autodiff_kit.tensor import Tensor


@pytest.fixture(autouse=True)
def recording_before_and_after() -> Iterator[None]:
    assert torch.is_grad_enabled()
    yield
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()


@pytest.fixture
def x() -> Tensor:
    return torch.tensor(2.0, requires_grad=True)


def test_nothing_is_recorded_under_no_grad(x: Tensor) -> None:
    with torch.no_grad():
        y = x * 3

    assert not y.requires_grad
    assert y.is_leaf


def test_modes_nest(x: Tensor) -> None:
    with torch.no_grad():
        with torch.enable_grad():
            inner = x * 3
        outer = x * 3

    assert (inner.requires_grad, outer.requires_grad) == (True, False)


def test_one_mode_can_be_entered_twice() -> None:
    mode = torch.no_grad()

    with mode:
        with mode:
            assert not torch.is_grad_enabled()
        assert not torch.is_grad_enabled()

    assert torch.is_grad_enabled()


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_an_exception_puts_the_mode_back(mode: Any) -> None:
    with pytest.raises(ValueError, match="stop"), mode():
        raise ValueError("stop")


def test_factories_may_ask_for_gradients_under_no_grad() -> None:
    with torch.no_grad():
        x = torch.ones(2, requires_grad=True)

    assert x.requires_grad
    assert (x * 2).requires_grad


@pytest.mark.parametrize("decorate", [torch.no_grad(), torch.no_grad, torch.set_grad_enabled])
def test_a_decorated_function_runs_in_the_mode(decorate: Any) -> None:
    if decorate is torch.set_grad_enabled:
        decorate = decorate(False)

    @decorate
    def f(value: int, *, more: int = 1) -> tuple[bool, int]:
        """Do something."""
        return torch.is_grad_enabled(), value + more

    assert torch.is_grad_enabled()
    assert f(1, more=2) == (False, 3)
    assert f.__name__ == "f"
    assert f.__doc__ == "Do something."


def test_a_decorated_recursive_function_runs_in_the_mode() -> None:
    @torch.no_grad()
    def count(n: int) -> int:
        assert not torch.is_grad_enabled()
        return n and 1 + count(n - 1)

    assert count(5) == 5


def test_a_decorated_method_gets_its_object() -> None:
    class Model:
        @torch.no_grad()
        def predict(self) -> Any:
            return self, torch.is_grad_enabled()

    model = Model()

    assert model.predict() == (model, False)


def decorated_generator() -> Callable[[], Any]:
    @torch.no_grad()
    def numbers() -> Iterator[Any]:
        for k in range(3):
            reply = yield k, torch.is_grad_enabled()
            if reply == "fail":
                raise KeyError(reply)

    return numbers


def test_a_decorated_generator_has_the_mode_to_itself() -> None:
    for item in decorated_generator()():
        assert item[1] is False
        assert torch.is_grad_enabled()  # between two yields the mode is the caller's


def test_values_and_exceptions_reach_a_decorated_generator() -> None:
    generator = decorated_generator()()
    next(generator)

    with pytest.raises(KeyError):
        generator.send("fail")


def test_a_decorated_generator_can_be_closed_half_way() -> None:
    generator = decorated_generator()()
    next(generator)

    generator.close()

    assert list(generator) == []


def test_exceptions_are_thrown_into_a_decorated_generator() -> None:
    caught = []

    @torch.no_grad()
    def patient() -> Iterator[int]:
        try:
            yield 1
        except ValueError as error:
            caught.append((str(error), torch.is_grad_enabled()))
            yield 2

    generator: Any = patient()
    next(generator)

    assert generator.throw(ValueError("stop")) == 2
    assert caught == [("stop", False)]


def test_what_a_decorated_generator_returns_is_kept() -> None:
    @torch.no_grad()
    def inner() -> Any:
        yield 1
        return "end"

    def outer() -> Any:
        return (yield from inner())

    generator = outer()
    next(generator)
    with pytest.raises(StopIteration) as stop:
        next(generator)

    assert stop.value.value == "end"


def test_set_grad_enabled_works_at_once() -> None:
    torch.set_grad_enabled(False)
    switched_off = torch.is_grad_enabled()
    torch.set_grad_enabled(True)

    assert not switched_off


def test_set_grad_enabled_as_a_context_puts_back_what_was_before() -> None:
    with torch.no_grad():
        with torch.set_grad_enabled(True):
            assert torch.is_grad_enabled()
        assert not torch.is_grad_enabled()


def test_set_grad_enabled_wants_a_bool() -> None:
    wrong: Any = "off"

    with pytest.raises(TypeError, match=r"argument 'enabled' .* must be bool, not str"):
        torch.set_grad_enabled(wrong)


def test_each_thread_has_its_own_mode() -> None:
    modes = []

    def look() -> None:
        modes.append(torch.is_grad_enabled())

    with torch.no_grad():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        look()

    assert modes == [True, False]


def test_many_threads_differentiate_at_the_same_time() -> None:
    results: list[float] = []

    def work(k: int) -> None:
        for _ in range(50):
            t = torch.tensor(float(k), requires_grad=True)
            (t * t * t).backward()
            assert t.grad is not None
            results.append(t.grad.item() - 3.0 * k * k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results == [0.0] * 400


# -- inference -------------------------------------------------------------------------------------


def test_inference_tensors_count_no_changes_and_enter_no_graph(x: Tensor) -> None:
    with torch.inference_mode():
        y = x * 3

    assert y.is_inference()
    assert not y.requires_grad
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        y._version  # noqa: B018
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * y


def test_inference_tensors_may_be_used_where_nothing_is_saved(x: Tensor) -> None:
    with torch.inference_mode():
        y = torch.tensor(5.0)

    (x + y).backward()

    assert x.grad is not None
    assert x.grad.item() == 1.0


def test_a_clone_of_an_inference_tensor_is_an_ordinary_one(x: Tensor) -> None:
    with torch.inference_mode():
        y = torch.tensor(5.0)

    z = y.clone()

    assert not z.is_inference()
    assert (x * z).requires_grad


def test_views_of_inference_tensors_are_inference_tensors() -> None:
    with torch.inference_mode():
        y = torch.ones(2, 3)

    assert y[0].is_inference()
    assert y.t().is_inference()
    assert y.detach().is_inference()


def test_inference_mode_can_be_switched_off_inside(x: Tensor) -> None:
    with torch.inference_mode(), torch.inference_mode(False):
        y = x * 3

    assert y.requires_grad
    assert not y.is_inference()


def test_enable_grad_records_nothing_in_inference_mode(x: Tensor) -> None:
    with torch.inference_mode(), torch.enable_grad():
        y = x * 3

    assert not y.requires_grad


def test_inference_mode_decorates_functions() -> None:
    @torch.inference_mode()
    def f() -> bool:
        return torch.is_inference_mode_enabled()

    @torch.inference_mode
    def g() -> bool:
        return torch.is_inference_mode_enabled()

    assert (f(), g()) == (True, True)
