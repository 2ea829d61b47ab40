"""Is everything as if the padding were not there?"""

import math

import numpy as np

from autodiff_kit.grading.array_pictures import first_difference
from autodiff_kit.grading.checks import check
from autodiff_kit.grading.rules import exact, inexact
from autodiff_kit.grading.untouched import untouched


def one(sequence, w, u):
    h = 0.0
    for x in sequence:
        h = math.tanh(w * h + u * x)
    return h


def weights(rng):
    return {"w": float(rng.uniform(0.8, 1.5)), "u": float(rng.uniform(0.3, 0.9))}


PLACES = ("first", "last", "between")


def lengths(rng, place):
    """Return different lengths, none as long as the padded rows, and where the longest is."""
    longest, *others = sorted(
        (int(n) for n in rng.permutation(4)[: rng.integers(3, 5)]), reverse=True
    )
    others = [int(n) for n in rng.permutation(others)]
    others.insert({"first": 0, "last": len(others), "between": 1}[place], longest)
    return np.array(others) + 1


@check(step="state", points=1.5, concept="one sequence of any length")
class State:
    in_words = ("for 1, -1:", "for 1:", "for none:")
    caption = "the sequences 1, -1 and 1 and an empty one, with w = 0.5 and u = 2"
    example = {
        "sequences": [np.array([1.0, -1.0]), np.array([1.0]), np.array([])],
        "w": 0.5,
        "u": 2.0,
    }

    def generate(rng):
        sizes = rng.permutation([0, 1, int(rng.integers(2, 4)), int(rng.integers(4, 7))])
        return {"sequences": [rng.uniform(0.2, 1.0, size) for size in sizes], **weights(rng)}

    def drive(step, data):
        return [step.final_state(x, data["w"], data["u"]) for x in data["sequences"]]

    def expected(data):
        return [one(sequence, data["w"], data["u"]) for sequence in data["sequences"]]


@check(step="states", points=2.5, concept="a padded batch")
class States:
    caption = "the sequences 1, -1, 2 and 1 (padded with 99) with w = 0.5 and u = 2"
    example = {
        "padded": np.array([[1.0, -1.0, 2.0], [1.0, 99.0, 99.0]]),
        "lengths": np.array([3, 1]),
        "w": 0.5,
        "u": 2.0,
    }

    kinds = PLACES

    def generate(rng, place):
        count = lengths(rng, place)
        padded = rng.uniform(0.2, 1.0, (len(count), 5)) * rng.choice([-1.0, 1.0], (len(count), 5))
        return {"padded": padded, "lengths": count, **weights(rng)}

    def drive(step, data):
        return step.final_states(data["padded"], data["lengths"], data["w"], data["u"])

    def expected(data):
        rows = zip(data["padded"], data["lengths"], strict=True)
        return np.array([one(row[:n], data["w"], data["u"]) for row, n in rows])


class MeanLoss:
    """What is asked of losses and lengths, whatever is in the padding."""

    def drive(step, data):
        return step.mean_loss(data["losses"], data["lengths"])

    def expected(data):
        rows = zip(data["losses"], data["lengths"], strict=True)
        real = [loss for row, n in rows for loss in row[:n]]
        return math.fsum(real) / len(real)


@check(step="loss", points=1.5, concept="the mean over what is real")
class Loss(MeanLoss):
    caption = "the losses 1, 2, 6 and 7 (padded with 50)"
    example = {
        "losses": np.array([[1.0, 2.0, 6.0], [7.0, 50.0, 50.0]]),
        "lengths": np.array([3, 1]),
    }

    kinds = PLACES

    def generate(rng, place):
        count = lengths(rng, place)
        return {"losses": rng.uniform(0.5, 3.0, (len(count), 5)), "lengths": count}


@check(step="loss", points=1, concept="anything may be in the padding", cases=2)
class Poison(MeanLoss):
    caption = "the losses 1, 2 and 5, 8, both padded with nan"
    example = {
        "losses": np.array([[1.0, 2.0, math.nan], [5.0, 8.0, math.nan]]),
        "lengths": np.array([2, 2]),
    }

    def generate(rng):
        rows, real = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        losses = rng.uniform(0.5, 3.0, (rows, 5))
        losses[:, real:] = math.nan
        return {"losses": losses, "lengths": np.full(rows, real)}


@check(step="rule", points=1.5, concept="no gradient into the padding")
class Rule:
    caption = "g = 8 and the losses 1, 2, 6 and 7 (padded with 50)"
    example = {
        "g": 8.0,
        "losses": np.array([[1.0, 2.0, 6.0], [7.0, 50.0, 50.0]]),
        "lengths": np.array([3, 1]),
    }
    picture = first_difference("losses")

    kinds = PLACES

    def generate(rng, place):
        count = lengths(rng, place)
        # So large that the mean itself overflows, and one infinite: its rule reads none of them.
        losses = rng.uniform(0.5, 1.7, (len(count), 5)) * 1e308
        losses[int(rng.integers(len(count))), 0] = np.inf
        return {"g": float(rng.uniform(1.5, 9.0)), "losses": losses, "lengths": count}

    def drive(step, data):
        return step.mean_loss_rule(data["g"], data["losses"], data["lengths"])

    def expected(data):
        gradient = np.zeros(data["losses"].shape)
        for row, n in zip(gradient, data["lengths"], strict=True):
            row[:n] = data["g"] / sum(data["lengths"])
        return gradient

    compare, diagnose = exact, inexact


state_inputs = untouched(State, name="StateInputs", points=0.5)
states_inputs = untouched(States, name="StatesInputs", points=0.5)
loss_inputs = untouched(
    Loss,
    Poison,
    name="LossInputs",
    points=0.5,
    caption="the examples above, one after the other",
)
rule_inputs = untouched(Rule, name="RuleInputs", points=0.5)
