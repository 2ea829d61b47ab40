"""Changes in place: versions, histories, and who must not be changed."""

import pickle
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.core.observer import Observer, installed
from autodiff_kit.core.versions import changes_of
from autodiff_kit.in_place_ops import InPlaceOp, in_place_table
from autodiff_kit.tensor import Tensor


def leaf(*values: float) -> Tensor:
    return torch.tensor(list(values), requires_grad=True)


def gradient(total: Tensor, x: Tensor) -> Any:
    return torch.autograd.grad(total, x)[0].tolist()


# -- versions --------------------------------------------------------------------------------------


def test_a_version_counts_changes() -> None:
    x = torch.zeros(3)

    x += 1
    x[0] = 5.0
    x.mul_(2).zero_()

    assert x._version == 4


def test_views_and_detached_tensors_share_the_version_but_data_does_not() -> None:
    x = torch.zeros(2, 2)
    view, detached, data = x[0], x.detach(), x.data

    x += 1
    view += 1
    detached += 1

    assert [t._version for t in (x, view, detached, data)] == [3, 3, 3, 0]


def test_many_changes_are_counted_without_growing() -> None:
    x = torch.zeros(1)

    for _ in range(5000):
        x += 1

    assert x._version == 5000
    assert len(changes_of(x._array)) < 2000


def test_a_saved_value_that_changed_is_noticed_at_backward() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    z = y * y

    y += 1

    words = r"FloatTensor \[2\]\], which is output 0 of Add, is at version 1; expected version 0"
    with pytest.raises(RuntimeError, match=words):
        z.sum().backward()


def test_a_saved_result_that_changed_is_noticed() -> None:
    y = leaf(1.0, 2.0).exp()

    y += 1

    with pytest.raises(RuntimeError, match="which is output 0 of Exp, is at version 1"):
        y.sum().backward()


def test_a_change_through_a_view_is_noticed() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    z = y * y

    y[0].zero_()

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_the_message_tells_which_op_had_saved_what() -> None:
    y = leaf(1.0).exp()
    y += 1

    with pytest.raises(
        RuntimeError, match=r"\n-> ExpBackward0 had saved its own result for its rules"
    ):
        y.backward()


def test_the_message_names_the_learners_variable_and_what_helps_where_a_part_was_changed() -> None:
    y = leaf(1.0, 2.0) * 2
    product = y * y
    y[0] = 5.0

    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        product.sum().backward()

    advice = str(caught.value).split("\n-> ")[1]
    assert advice.startswith("MulBackward0, the node of product, had saved its second input")
    assert "y = y.clone() before y[0] = 5" in advice
    y = leaf(1.0, 2.0) * 2
    product = y * y
    y = y.clone()  # as advised
    y[0] = 5.0
    product.sum().backward()


def test_a_change_before_saving_is_harmless() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    y += 1
    z = y * y  # saves the new value: 2 (x + 1)

    assert gradient(z.sum(), x) == [4.0, 6.0]


def test_a_change_that_nobody_had_saved_is_harmless() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    z = y + 1

    y += 5

    assert gradient(z.sum(), x) == [1.0, 1.0]


def test_a_change_during_many_backward_calls_is_noticed_each_time() -> None:
    x = leaf(1.0)
    w = torch.tensor([2.0])
    y = (x * w).sum()
    y.backward(retain_graph=True)

    w += 1

    for _ in range(2):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward(retain_graph=True)


def test_a_tensor_times_itself_in_place_has_lost_its_old_value() -> None:
    y = leaf(1.0, 2.0) * 1
    y *= y

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


# -- histories -------------------------------------------------------------------------------------


def test_a_changed_tensor_goes_on_as_the_result() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    y.mul_(3).add_(1).pow_(2)  # (3 x + 1)^2, slope 6 (3 x + 1)

    assert gradient(y.sum(), x) == [24.0, 42.0]


def test_what_was_overwritten_has_no_influence() -> None:
    x = leaf(1.0, 2.0, 3.0)
    y = x * x
    y[1] = 0.0

    assert gradient(y.sum(), x) == [2.0, 0.0, 6.0]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (0, [7.0, 0.0, 0.0]),
        (slice(1, None), [0.0, 7.0, 7.0]),
        (..., [7.0, 7.0, 7.0]),
        ([2, 0], [7.0, 0.0, 7.0]),
        (torch.tensor([True, False, True]), [7.0, 0.0, 7.0]),
        (torch.tensor(1), [0.0, 7.0, 0.0]),
        ((None, 0), [7.0, 0.0, 0.0]),
    ],
    ids=str,
)
def test_elements_can_be_assigned(key: Any, expected: list[float]) -> None:
    x = torch.zeros(3)
    y = leaf(0.0, 0.0, 0.0) * 1

    x[key] = 7.0
    y[key] = 7.0

    assert x.tolist() == expected
    assert y.tolist() == expected


def test_assigned_values_get_gradients() -> None:
    x, w = leaf(1.0, 2.0, 3.0), leaf(5.0)
    y = x * 2
    y[:2] = w  # broadcast

    y.sum().backward()

    assert x.grad is not None
    assert w.grad is not None
    assert x.grad.tolist() == [0.0, 0.0, 2.0]
    assert w.grad.tolist() == [2.0]


def test_a_constant_that_is_assigned_to_becomes_part_of_the_graph() -> None:
    x = leaf(2.0)
    buffer = torch.zeros(3)
    buffer[0] = x[0]
    for k in range(1, 3):
        buffer[k] = buffer[k - 1] * 3

    assert buffer.tolist() == [2.0, 6.0, 18.0]
    assert gradient(buffer.sum(), x) == [13.0]  # 1 + 3 + 9


def test_changing_a_view_changes_the_history_of_its_base() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    y[0].mul_(10)

    assert y.tolist() == [10.0, 2.0]
    assert gradient(y.sum(), x) == [10.0, 1.0]


def test_a_view_whose_base_has_changed_is_a_tensor_as_any_other() -> None:
    x = torch.ones(3)
    view = x[1:]
    x.requires_grad_()
    with torch.no_grad():
        x.add_(1)

    assert (
        view.__class__ is Tensor and isinstance(view, Tensor) and repr(type(view)) == repr(Tensor)
    )
    assert pickle.loads(pickle.dumps(view)).tolist() == [2.0, 2.0]
    with pytest.raises(AttributeError, match=r"Tensor\.stft is PyTorch's"):
        view.stft  # noqa: B018
    assert view.requires_grad and view.grad_fn is not None and type(view) is Tensor


def test_changing_a_base_changes_the_history_of_its_views() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    view = y.view(2, 1)[1:]
    y.mul_(10)

    assert view.tolist() == [[20.0]]
    assert gradient(view.sum(), x) == [0.0, 10.0]


def test_views_of_other_layouts_follow_too() -> None:
    x = leaf(0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
    y = (x * 1).reshape(2, 3)
    base = y.t().clone()  # laid out in columns
    view = base[1:, 0]
    base.mul_(2)
    view.add_(1)

    # base is the transpose: base[1:, 0] are elements 1 and 2 of x
    assert view.tolist() == [3.0, 5.0]
    assert gradient((view * view).sum(), x) == [0.0, 12.0, 20.0, 0.0, 0.0, 0.0]


def test_a_view_of_a_constant_follows_when_the_base_gets_a_history() -> None:
    x = leaf(1.0, 2.0)
    base = torch.zeros(2)
    view = base[1]
    base += x

    assert view.requires_grad
    assert gradient(view, x) == [0.0, 1.0]


# -- what must not be changed ----------------------------------------------------------------------


def test_leaves_that_need_gradients_are_changed_under_no_grad_only() -> None:
    x = leaf(1.0)

    with pytest.raises(
        RuntimeError, match=r"^a leaf Variable that requires grad is being used in an"
    ):
        x += 1
    with pytest.raises(RuntimeError, match=r"^a view of a leaf Variable that requires grad"):
        x[0] += 1
    with torch.no_grad():
        x += 1

    assert x.tolist() == [2.0]
    assert x.is_leaf


def test_a_view_made_under_no_grad_is_not_changed_outside() -> None:
    x = leaf(1.0)
    with torch.no_grad():
        view = x[0]

    with pytest.raises(
        RuntimeError, match="A view was created in no_grad mode and is being modified"
    ):
        view += 1


def test_a_failed_change_changes_nothing() -> None:
    x = torch.tensor([1, 2])

    with pytest.raises(RuntimeError, match="can't be cast"):
        x.div_(2)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        x.add_(torch.ones(3, 2, dtype=torch.int64))
    with pytest.raises(IndexError, match="out of bounds"):
        x[2] = 0

    assert x.tolist() == [1, 2]
    assert x._version == 0


def test_repeated_elements_cannot_be_written_to() -> None:
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers"):
        torch.zeros(1).expand(3).add_(1)


def test_inference_tensors_are_not_changed_outside() -> None:
    with torch.inference_mode():
        x = torch.zeros(2)
        x += 1

    with pytest.raises(
        RuntimeError, match="Inplace update to inference tensor outside InferenceMode"
    ):
        x += 1
    assert x.tolist() == [1.0, 1.0]


def test_values_that_do_not_fit_are_refused() -> None:
    x = torch.zeros(2, 3)

    with pytest.raises(RuntimeError, match=r"The expanded size of the tensor \(3\) must match"):
        x[0] = torch.ones(2)
    with pytest.raises(RuntimeError, match="shape mismatch: value tensor of shape"):
        x[[0, 1]] = torch.ones(2)
    with pytest.raises(TypeError, match=r"can't assign a list to a torch\.FloatTensor"):
        x[0] = [1, 2, 3]


# -- numbers and memory ----------------------------------------------------------------------------


def test_numbers_change_in_place() -> None:
    x = torch.tensor(2.0)
    same = x

    x += 1
    x *= 4

    assert same is x
    assert x.item() == 12.0


def test_a_mask_writes_to_a_repeated_element_where_it_is_true() -> None:
    x = torch.ones(1).expand(3)

    x.masked_fill_(torch.tensor([True, False, False]), 7.0)

    assert x.tolist() == [7.0, 7.0, 7.0]  # one element, in three places


def test_an_observer_changes_nothing() -> None:
    y = leaf(1.0, 2.0) * 1
    view, other = y.view(2, 1), torch.zeros(2, 2)
    row = other[0]
    row.data = torch.ones(2)

    with installed(Observer()), torch.inference_mode():
        y -= 1
        row[[0]] = 5.0

    assert (view.requires_grad, view.is_leaf) == (True, False)
    assert (row.tolist(), other.tolist()) == ([5.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])


def test_writing_into_a_large_buffer_leaves_the_rest_alone() -> None:
    x = torch.zeros(1000, 1000)
    address = x.data_ptr()

    for k in range(100):
        x[k, k] = k

    assert x.data_ptr() == address
    assert x.sum().item() == 4950.0


def test_arrays_that_share_memory_see_changes() -> None:
    array = np.zeros(3)
    x = torch.from_numpy(array)

    x[1:] = 5.0
    x.add_(1)

    assert array.tolist() == [1.0, 6.0, 6.0]


@pytest.mark.parametrize(
    "copy", ["x.clone()", "x.flip(())", "x.max(0).values", "x.prod(0)", "x.sort().values"]
)
def test_changing_a_copy_of_a_number_leaves_the_number_itself_alone(copy: str) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    square = x * x

    eval(copy, {"x": x}).mul_(square)
    square.backward()

    assert x.grad is not None
    assert x.grad.item() == 6.0


def test_changing_one_truth_value_in_place_leaves_what_others_saved_alone() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.where(torch.tensor(True), x * x, x)
    other = torch.tensor(True)

    other.fill_(False)
    y.backward()

    assert x.grad == 4.0


# -- the table of in-place ops ---------------------------------------------------------------------

# What only looks at the same elements in another way, or changes what is known of the tensor.
WITHOUT_ROW = {"apply_", "as_strided_", "detach_", "fill_diagonal_", "map_", "requires_grad_"}
WITHOUT_ROW |= {"squeeze_", "swapaxes_", "t_", "transpose_", "unsqueeze_"}


def test_each_method_in_place_has_a_row() -> None:
    methods = {name for name in dir(torch.ones(1)) if name[-1] == "_" != name[0]}
    functions = {name for name in torch.nn.functional.__all__ if name.endswith("_")}

    assert methods - WITHOUT_ROW <= in_place_table().keys()
    assert functions - WITHOUT_ROW <= in_place_table().keys()


def test_each_row_is_a_method_or_a_layer() -> None:
    layers = {f"{name.lower()}_" for name in torch.nn.__all__}
    others = {"leaky_relu_"}

    assert {name for name in in_place_table() if not hasattr(Tensor, name)} <= layers | others


def test_a_row_says_nothing_that_is_no_column() -> None:
    with pytest.raises(AttributeError):
        InPlaceOp(is_wrong=True)
