"""Steps worked out by hand, and what steps leave alone; PyTorch is not needed here."""

import math
import sys
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit import nn, optim


def test_sgd_goes_down_the_slope() -> None:
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    optimizer = optim.SGD([w], lr=0.25)

    (w**2).sum().backward()  # slopes 2 and -4
    optimizer.step()

    assert w.tolist() == [0.5, -1.0]


def test_momentum_goes_on_as_before() -> None:
    w = torch.tensor(0.0, requires_grad=True)
    optimizer = optim.SGD([w], lr=1.0, momentum=0.5)

    places = []
    for _ in range(3):  # slope 1: steps of 1, then 1 + 0.5, then 1 + 0.75
        optimizer.zero_grad()
        (w * 1).backward()
        optimizer.step()
        places.append(w.item())

    assert places == [-1.0, -2.5, -4.25]


def test_the_first_step_of_adam_has_the_length_of_the_learning_rate() -> None:
    w = torch.tensor([3.0, 3.0, 3.0], dtype=torch.float64, requires_grad=True)

    (w * torch.tensor([1000.0, 1.0, -0.001], dtype=torch.float64)).sum().backward()
    optim.Adam([w], lr=0.5, eps=0).step()

    assert w.tolist() == pytest.approx([2.5, 2.5, 3.5])


def test_the_memory_of_a_parameter_stays_where_it_is() -> None:
    w = torch.ones(3, requires_grad=True)
    shared = w.detach()
    w.sum().backward()
    gradient = w.grad

    for make in (optim.SGD, optim.Adam, optim.AdamW, optim.RMSprop, optim.Adagrad):
        make([w], lr=0.1).step()

    assert torch.equal(shared, w.detach())
    assert w.grad is gradient and gradient.tolist() == [1.0, 1.0, 1.0]


def test_a_step_warns_of_nothing_and_leaves_numpys_settings_alone() -> None:
    before = np.geterr()
    w = torch.tensor([1e38, 0.0], requires_grad=True)
    w.grad = torch.tensor([float("inf"), float("nan")])

    for make in (optim.SGD, optim.Adam, optim.RMSprop, optim.Adagrad):
        make([w], lr=1e30).step()

    assert np.geterr() == before
    assert math.isnan(w[1].item())


def test_differentiable_steps_are_refused_with_another_way() -> None:
    w = torch.ones(1, requires_grad=True)

    with pytest.raises(NotImplementedError, match="differentiable=True is PyTorch's, but not"):
        optim.SGD([w], differentiable=True)


def test_an_optimizer_without_a_step_says_what_is_missing() -> None:
    w = torch.ones(1, requires_grad=True)

    with pytest.raises(NotImplementedError, match="Define step"):
        optim.Optimizer([w], {}).step()


def test_a_name_that_is_missing_is_named() -> None:
    with pytest.raises(AttributeError, match=r"torch\.optim\.SparseAdam is PyTorch's"):
        optim.SparseAdam  # noqa: B018
    with pytest.raises(AttributeError, match=r"torch\.nn\.Conv3d is PyTorch's"):
        nn.Conv3d  # noqa: B018


def test_modules_and_optimizers_go_without_the_garbage_collector() -> None:
    import gc
    import weakref

    gc.collect()
    gc.disable()
    try:
        model: Any = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
        optimizer: Any = optim.Adam(model.parameters())
        model[0].register_full_backward_hook(lambda *_: None)
        x = torch.ones(1, 2, requires_grad=True)
        model(x).sum().backward()
        optimizer.step()
        left = [weakref.ref(model), weakref.ref(optimizer), weakref.ref(model[0].weight)]
        del model, optimizer
        assert [ref() for ref in left] == [None, None, None]
    finally:
        gc.enable()


def test_importing_the_kit_loads_neither_modules_nor_optimizers() -> None:
    import subprocess

    code = "\n".join(
        [
            "import sys, autodiff_kit as torch",
            "print([name for name in sys.modules if 'kit.nn' in name or 'kit.optim' in name])",
            "torch.optim.lr_scheduler.StepLR; torch.nn.utils.clip_grad_norm_; torch.save",
            "import autodiff_kit.nn.functional as F",
            "from autodiff_kit.nn.utils import clip_grad_norm_",
        ]
    )

    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert process.stdout.strip() == "[]"


def test_whoever_watches_sees_parameters_made_and_changed_but_no_first_values() -> None:
    from autodiff_kit.core.observer import Observer, installed

    class Watcher(Observer):
        def __init__(self) -> None:
            self.events: list[Any] = []

        def created(self, tensor: Any) -> None:
            self.events.append(("created", type(tensor).__name__))

        def modified(self, tensor: Any, how: str) -> None:
            self.events.append((how, type(tensor).__name__))

    watcher = Watcher()
    with installed(watcher):
        layer = nn.Linear(1, 1)
        w = nn.Parameter(torch.ones(1))
        w.grad = torch.ones(1)
        optim.SGD([w, *layer.parameters()], lr=0.1).step()

    creations = [("created", "Tensor"), ("created", "Parameter"), ("created", "Tensor")]
    assert watcher.events == [*creations, ("SGD.step", "Parameter")]
