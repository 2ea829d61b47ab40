"""Errors: PyTorch's words, then a line that teaches; and what the kit does not have."""

import pytest

import autodiff_kit as torch
from autodiff_kit.errors import teach

X = "x = torch.tensor([1.0, 2.0], requires_grad=True); "
Y = X + "y = x * 1; "

# What everybody meets, in the words of PyTorch 2.13.0. `same_as_torch/` compares far more of it.
EVERYDAY = [
    (X + "s = (x * x).sum(); s.backward(); s.backward()", "Trying to backward through the graph a"),
    (X + "(x * 2).backward()", "grad can be implicitly created only for scalar outputs"),
    ("torch.ones(1).backward()", "element 0 of tensors does not require grad and does not have a"),
    (
        X + "(x * 2).backward(torch.ones(1))",
        "Mismatch in shape: grad_output[0] has a shape of torch",
    ),
    (
        "torch.tensor([1], requires_grad=True)",
        "Only Tensors of floating point and complex dtype can",
    ),
    (Y + "y.requires_grad = False", "you can only change requires_grad flags of leaf variables."),
    ("torch.ones(1).retain_grad()", "can't retain_grad on Tensor that has requires_grad=False"),
    (X + "x += 1", "a leaf Variable that requires grad is being used in an in-place operation."),
    (Y + "z = y * y; y += 1; z.sum().backward()", "one of the variables needed for gradient comp"),
    (X + "torch.autograd.grad(x.sum(), torch.ones(1, requires_grad=True))", "The differentiated"),
    (
        X + "torch.autograd.grad(x.sum(), torch.ones(1))",
        "One of the differentiated Tensors does not",
    ),
    ("torch.ones(1).register_hook(print)", "cannot register a hook on a tensor that doesn't"),
    (Y + "y.register_post_accumulate_grad_hook(print)", "post accumulate grad hooks cannot be"),
    (
        X + "x.numpy()",
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy()",
    ),
    ("torch.ones(2).item()", "a Tensor with 2 elements cannot be converted to Scalar"),
    ("bool(torch.ones(2))", "Boolean value of Tensor with more than one value is ambiguous"),
    ("torch.ones(2, 3) @ torch.ones(2, 3)", "mat1 and mat2 shapes cannot be multiplied (2x3 and"),
    ("torch.ones(2, 3) + torch.ones(2)", "The size of tensor a (3) must match the size of tensor"),
    ("torch.ones(6).view(4)", "shape '[4]' is invalid for input of size 6"),
    ("torch.ones(2, 3).t().view(6)", "view size is not compatible with input tensor's size and"),
    ("torch.ones(2)[5]", "index 5 is out of bounds for dimension 0 with size 2"),
    ("torch.ones(2, 3).sum(2)", "Dimension out of range (expected to be in range of [-2, 1], but"),
    ("x = torch.tensor([1]); x += 0.5", "result type Float can't be cast to the desired output"),
    (
        "x = torch.ones(2); x += torch.ones(3, 2)",
        "output with shape [2] doesn't match the broadcast",
    ),
    ("torch.ones(1).expand(2).add_(1)", "unsupported operation: more than one element of the"),
]


@pytest.mark.parametrize(("program", "words"), EVERYDAY, ids=[words for _, words in EVERYDAY])
def test_an_error_has_pytorchs_words_and_a_line_that_teaches(program: str, words: str) -> None:
    with pytest.raises((RuntimeError, IndexError, TypeError)) as caught:
        exec(program, {"torch": torch})

    first, _, advice = str(caught.value).partition("\n")
    assert first.startswith(words)
    assert advice.startswith("-> ")
    assert advice.endswith(".")


def test_teach_puts_advice_on_a_line_of_its_own() -> None:
    assert teach("What happened.", "What to do.") == "What happened.\n-> What to do."


@pytest.mark.parametrize("name", ["einsum", "fft", "jit", "no_such_thing"])
def test_names_that_are_missing_say_that_the_kit_does_not_have_them(name: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}'\n-> .*not part of the kit"):
        getattr(torch, name)


@pytest.mark.parametrize("name", ["Variable", "forward_ad", "no_such_thing"])
def test_names_missing_in_autograd_say_so_too(name: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}'\n-> .*not part of the kit"):
        getattr(torch.autograd, name)


def test_every_public_name_is_there() -> None:
    missing = [name for name in torch.__all__ if name != "record" and not hasattr(torch, name)]

    assert missing == []


def test_the_public_names_are_sorted_and_unique_within_their_files() -> None:
    assert len(torch.__all__) == len(set(torch.__all__))


def test_asking_for_what_is_missing_does_not_break_hasattr() -> None:
    assert not hasattr(torch, "compile")
    assert not hasattr(torch.ones(1), "cuda")
