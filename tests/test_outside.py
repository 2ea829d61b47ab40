"""What is PyTorch's, but not the kit's: the one answer, in every form in which it may be asked."""

import importlib
import re
import subprocess
import sys
import tomllib
from importlib.resources import files
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
import autodiff_kit.linalg
import autodiff_kit.nn.attention
import autodiff_kit.nn.utils.rnn
import autodiff_kit.special
from autodiff_kit.outside import OF_TENSORS, outside

THEIRS = """
    fft compile jit profiler distributed autograd.forward_ad autograd.profiler
    autograd.kineto_available cuda.synchronize cuda.Stream linalg.eig nn.Conv3d
    nn.attention.SDPBackend
    nn.functional.pdist nn.init.torch
    nn.utils.parametrizations.orthogonal nn.utils.rnn.invert_permutation optim.Adafactor
    special.bessel_j0 utils.tensorboard utils.data.IterDataPipe
    optim.adam.adam optim.optimizer.register_optimizer_step_pre_hook utils.data.dataloader.dist
    serialization.add_safe_globals return_types.frexp distributions.StudentT distributions.Binomial
    poisson gradient
    autograd.function.InplaceFunction autograd.graph.increment_version
"""


@pytest.mark.parametrize("path", THEIRS.split())
def test_names_of_modules(path: str) -> None:
    words = rf"no attribute '{path.split('.')[-1]}'\n-> torch\.{path} is PyTorch's, but not part of"

    with pytest.raises(AttributeError, match=words):
        attrgetter(path)(torch)


def test_names_of_tensors_and_modules() -> None:
    for of, name, place in (
        (torch.ones(2), "stft", "Tensor"),
        (torch.nn.Linear(1, 1), "share_memory", "nn.Module"),
    ):
        with pytest.raises(AttributeError, match=rf"-> torch\.{place}\.{name} is PyTorch's, but"):
            getattr(of, name)
    for of in (torch.ones(2), torch.nn.Linear(1, 1)):
        with pytest.raises(AttributeError, match=r"has no attribute 'no_such_thing'$"):
            of.no_such_thing  # noqa: B018


def test_of_tensors_all_names_are_listed_that_only_pytorch_has() -> None:
    names = tomllib.loads(files("autodiff_kit.outside").joinpath("names.toml").read_text())

    assert {n for n in names["torch.Tensor"].split() if not hasattr(torch.Tensor, n)} == {
        *OF_TENSORS
    }
    assert not {*OF_TENSORS} & {*dir(torch.ones(2))}
    with pytest.raises(AttributeError, match=r"'Tensor' has no attribute 'stft'\n-> torch\.Tensor"):
        torch.Tensor.stft  # noqa: B018


def test_reading_a_slot_of_a_tensor_calls_no_python() -> None:
    assert not any("__getattr__" in vars(kind) for kind in torch.nn.Parameter.__mro__)


@pytest.mark.parametrize(
    "statement",
    [
        "import torch.fft",
        "from torch.fft import fft",
        "import torch.distributed as dist",
        "from torch.nn.attention.flex_attention import flex_attention",
        "from torch.distributions.binomial import Binomial",
        "from torch.distributions.poisson import Poisson",
        "from torch.serialization import add_safe_globals",
        "from torch.utils.tensorboard import SummaryWriter",
        "from torch.profiler import profile",
        "from torch.nn.utils.parametrizations import orthogonal",
        "import torch.autograd.forward_ad as fwAD",
        "from torch.nn import Conv3d",
        "from torch.autograd import kineto_available",
        "from torch.optim import Adafactor",
        "from torch import jit",
        "from torch.nn.utils.stateless import functional_call",
        "import torch.utils.benchmark as benchmark",
        "from torch.distributions.von_mises import VonMises",
        "from torch.ops import aten",
    ],
)
def test_imports(statement: str) -> None:
    place, _, name = statement.replace("import torch.", "from torch import ").partition(" import ")
    words = (
        rf"\n-> {place.removeprefix('from ')}(\.{name.split()[0]})? is PyTorch's, but not part of"
    )

    with pytest.raises(ImportError, match=words) as caught:
        exec(statement.replace("torch", "autodiff_kit", 1))

    assert "Error" in type(caught.value).__name__


def test_torch_itself_is_what_the_kit_is_imported_as() -> None:
    with pytest.raises(ImportError, match=r"\n-> .*import autodiff_kit as torch"):
        exec("from autodiff_kit import torch")


@pytest.mark.parametrize("function", [np.sum, np.mean, np.std, np.prod, np.max])
def test_a_function_of_numpy_is_told_from_an_option_that_the_learner_wrote(function: Any) -> None:
    with pytest.raises(TypeError) as caught:  # as PyTorch; NumPy passes out=None on
        function(torch.ones(2, 3))

    advice = str(caught.value).partition("\n-> ")[2]
    assert f"Write torch.{function.__name__}" in advice
    assert "out=" not in advice


@pytest.mark.parametrize(
    ("call", "keyword"),
    [
        (lambda: torch.ones(3).sum(out=torch.ones(())), "out"),
        (lambda: torch.ones(3, pin_memory=True), "pin_memory"),
        (lambda: torch.zeros(3, layout=None), "layout"),
    ],
)
def test_keywords(call: Any, keyword: str) -> None:
    with pytest.raises(TypeError, match=rf"\n-> {keyword}= is PyTorch's, but not part of the kit"):
        call()


def test_a_slip_of_the_pen_is_told_from_what_pytorch_has() -> None:
    with pytest.raises(
        AttributeError, match=r"has no torch\.reul either\. Did you mean torch\.relu"
    ):
        torch.reul  # noqa: B018
    with pytest.raises(
        ImportError, match=r"PyTorch has no torch\.nn\.Linar .* torch\.nn\.Linear\?"
    ):
        from autodiff_kit.nn import Linar  # noqa: F401
    with pytest.raises(AttributeError, match=r"has no .*orthogonl either\.$"):
        torch.nn.utils.parametrizations.orthogonl  # noqa: B018
    with pytest.raises(AttributeError, match=r"PyTorch has no torch\.no_such_thing either\.$"):
        torch.no_such_thing  # noqa: B018


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("distributions.normal", "Normal"),
        ("distributions.one_hot_categorical", "OneHotCategorical"),
        ("optim.adamw", "AdamW"),
        ("amp.grad_scaler", "GradScaler"),
        ("nn.utils.clip_grad", "clip_grad_norm_"),
        ("nn.utils.convert_parameters", "parameters_to_vector"),
    ],
)
def test_a_class_is_also_in_the_module_where_pytorch_has_its_code(module: str, name: str) -> None:
    place = importlib.import_module(f"autodiff_kit.{module}")

    above = importlib.import_module(f"autodiff_kit.{module.rpartition('.')[0]}")
    assert getattr(place, name) is getattr(above, name)
    with pytest.raises(AttributeError, match=rf"autodiff_kit\.{module}' has no attribute 'other'"):
        place.other  # noqa: B018


def test_of_a_private_name_the_kit_does_not_say_that_pytorch_has_none() -> None:
    with pytest.raises(AttributeError, match=r"torch\._C is private, if PyTorch has it"):
        torch._C  # noqa: B018
    with pytest.raises(ModuleNotFoundError, match=r"torch\._dynamo is private, if PyTorch has it"):
        importlib.import_module("autodiff_kit._dynamo")


@pytest.mark.parametrize(
    ("path", "instead"),
    [
        ("compile", "StaticGraph"),
        ("jit.trace", "StaticGraph"),
        ("export", "StaticGraph"),
        ("cond", "torch.where"),
        ("nested", "Lesson 08"),
        ("cuda.Stream", "leave out"),
        ("nn.Conv3d", "Use PyTorch"),
        ("binomial", "Bernoulli"),
        ("distributions.binomial.Binomial", "Bernoulli"),
        ("gradient", "torch.diff"),
        ("autograd.forward_ad.make_dual", "func.jvp"),
        ("nn.utils.parametrizations.orthogonal", "orthogonal_"),
    ],
)
def test_what_to_do_instead(path: str, instead: str) -> None:
    assert re.match(rf"torch\.{path} is PyTorch's, .*{instead}", outside(f"torch.{path}"))


def test_asking_breaks_neither_hasattr_nor_getattr() -> None:
    assert not hasattr(torch, "compile")
    assert not hasattr(torch.nn.functional, "pdist")
    assert not hasattr(torch.nn.utils, "stateless")
    assert getattr(torch.ones(1), "stft", None) is None
    assert isinstance(getattr(torch, "fft", SimpleNamespace()), SimpleNamespace)


def test_pythons_own_finders_are_left_alone() -> None:
    code = """
import sys
before = [*sys.meta_path], [*sys.path_hooks], [*sys.path]
import autodiff_kit.nn, autodiff_kit.utils, autodiff_kit.cuda
print(before == (sys.meta_path, sys.path_hooks, sys.path))
"""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert process.stdout == "True\n"


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("dropout", r"The kit has torch\.nn\.functional\.dropout\."),
        ("cholesky", r"The kit has torch\.linalg\.cholesky\."),
        ("Tensor.qr", r"The kit has torch\.linalg\.qr\."),
        ("Tensor.prelu", r"The kit has torch\.prelu\."),
        ("compile", "Leave it out: the results are the same"),
        ("nn.Module.compile", "Leave it out: the results are the same"),
        ("channels_last", "Leave it out: the numbers are the same"),
        ("sparse_coo_tensor", "are dense"),
        ("Tensor.to_sparse", "are dense"),
        ("hub.load", "without trained models"),
        ("nn.functional.upsample", "interpolate"),
        ("linalg.eig", "torch.linalg.eigh"),
        ("xpu.is_available", "leave out what speaks to a GPU"),
        ("nn.Conv3d", "Use PyTorch for it"),
    ],
)
def test_the_answer_says_what_does_the_same(path: str, advice: str) -> None:
    assert re.search(advice, outside(f"torch.{path}"))


@pytest.mark.parametrize(
    ("slip", "name"), [("nn.Relu", "ReLU"), ("optim.Adamw", "AdamW"), ("longtensor", "LongTensor")]
)
def test_small_and_capital_letters_are_told_apart(slip: str, name: str) -> None:
    with pytest.raises(AttributeError, match=rf"Did you mean torch\.(\w+\.)?{name}\?"):
        attrgetter(slip)(torch)


def test_a_name_that_nobody_has_is_not_called_pytorchs() -> None:
    for module in ("optim.sgd", "utils.data.sampler", "distributions.kl", "nn.modules.utils"):
        words = rf"no attribute 'foo'\n-> PyTorch has no torch\.{module}\.foo either"
        with pytest.raises(AttributeError, match=words):
            importlib.import_module(f"autodiff_kit.{module}").foo  # noqa: B018


def test_an_option_that_is_off_may_be_given_and_one_that_is_on_is_pytorchs() -> None:
    torch.nn.LSTM(2, 3, proj_size=0)
    torch.nn.MultiheadAttention(4, 2, 0.0, True, False, False, 3)

    for call in (
        lambda: torch.nn.LSTM(2, 3, proj_size=1),
        lambda: torch.nn.MultiheadAttention(4, 2, add_bias_kv=True),
        lambda: torch.nn.MultiheadAttention(4, 2, add_zero_attn=True),
        lambda: torch.nn.functional.interpolate(torch.ones(1, 1, 2, 2), 1, antialias=True),
        lambda: torch.nn.functional.interpolate(torch.ones(1, 1, 2, 2), 1, mode="bicubic"),
    ):
        words = r"^torch\..*=(1|True|'bicubic')\) is PyTorch's, but not part of the kit"
        with pytest.raises(NotImplementedError, match=words):
            call()


def test_programs_have_their_pairs_of_numbers_from_where_pytorch_has_them() -> None:
    from autodiff_kit.nn.modules.utils import _pair, _reverse_repeat_tuple, _triple

    assert (_pair(3), _pair([1, 2]), _triple(0)) == ((3, 3), (1, 2), (0, 0, 0))
    assert _reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)
    assert torch.nn.modules.utils._pair is _pair
