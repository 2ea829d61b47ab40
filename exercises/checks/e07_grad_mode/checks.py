"""Is recording off where it should be, and back as it was everywhere else?"""

from autodiff_kit.grading.checks import check


def on_and_off(rng):
    """Return the states to begin with: both, as an end of a block may be right for one only."""
    return [bool(on) for on in rng.permutation([True, False])]


@check(step="context", points=2, concept="blocks inside of blocks", cases=4)
class Nesting:
    in_words = ("before:", "outer block:", "inner block:", "outer one again:", "after:")
    caption = (
        "a block in a block (its object made first): is recording on before, in the outer block, "
        "in the inner one, in the outer one again, and after"
    )
    example = {"on": [True], "ahead": [False, True]}

    def generate(rng):
        more = rng.random(int(rng.integers(1, 9))) < 0.5
        ahead = [bool(a) for a in rng.permutation([True, False, *more])]
        return {"on": on_and_off(rng), "ahead": ahead}

    def drive(step, data):
        states = []

        def level(number, blocks):
            states.append(step.is_recording())
            if number < len(blocks):
                with blocks[number] or step.no_grad():
                    level(number + 1, blocks)
                states.append(step.is_recording())

        for step.mode.on in data["on"]:
            level(0, [step.no_grad() if ahead else None for ahead in data["ahead"]])
        step.mode.on = True
        return states

    def expected(data):
        inside = [False] * (2 * len(data["ahead"]) - 1)
        return [state for on in data["on"] for state in (on, *inside, on)]


def from_off(step):
    """Return the states in and after a learner's own block that begins with the switch off.

    Whether they are right is what `Nesting` asks; the others take them as they are.
    """
    step.mode.on = False
    with step.no_grad():
        inside = step.is_recording()
    return inside, step.is_recording()


@check(step="context", points=3, concept="errors", using=[from_off])
class Errors:
    in_words = ("in the block:", "error:", "afterwards:")
    caption = (
        "an error in a block: is recording on in the block, which error comes out, and is it on "
        "afterwards"
    )
    example = {"on": [True], "errors": [0]}

    def generate(rng):
        count = int(rng.integers(4, 12))
        on = [bool(on) for on in rng.permutation([True, False, *(rng.random(count) < 0.5)])]
        return {"on": on, "errors": [int(n) for n in rng.integers(0, 3, len(on))]}

    def drive(step, data):
        kinds = [ValueError, KeyError, ZeroDivisionError]
        inside, after = from_off(step)
        states = []
        for on, number in zip(data["on"], data["errors"]):  # noqa: B905
            step.mode.on, state, kind = on, None, "none"
            try:
                with step.no_grad():
                    state = step.is_recording()
                    raise kinds[number]
            except (ValueError, KeyError, ZeroDivisionError) as error:
                kind = type(error).__name__
            states.append(False if not on and state == inside else state)
            state = step.is_recording()
            states += [kind, False if not on and state == after else state]
        step.mode.on = True
        return states

    def expected(data):
        kinds = ["ValueError", "KeyError", "ZeroDivisionError"]
        runs = [(False, kinds[n], on) for on, n in zip(data["on"], data["errors"], strict=True)]
        return [state for run in runs for state in run]


@check(step="decorator", points=2, concept="every call, and what goes in and out")
class Decorated:
    in_words = ("inside:", "result:", "after:") * 2
    caption = (
        "f(7, scale=2) and f(7, scale=3), which multiply: state inside, result, and state after"
    )
    example = {"numbers": [7], "scale": 2}

    def generate(rng):
        numbers = [int(n) for n in rng.integers(2, 50, int(rng.integers(1, 4)))]
        return {"numbers": numbers, "scale": int(rng.integers(2, 9))}

    def drive(step, data):
        step.mode.on = True

        states = []

        @step.no_grad()
        def f(*numbers, scale):
            states.append(step.is_recording())  # not returned: a wrapper could exchange it
            return scale * sum(numbers)

        for more in range(2):
            result = f(*data["numbers"], scale=data["scale"] + more)
            states += [result, step.is_recording()]
        step.mode.on = True
        return states

    def expected(data):
        results = [(data["scale"] + more) * sum(data["numbers"]) for more in range(2)]
        return [False, results[0], True, False, results[1], True]


@check(step="decorator", points=1, concept="a function that calls itself")
class Recursion:
    in_words = ("first call:", "second call:", "third call:", "after all:")
    caption = "a function that calls itself twice: the state in each call, and after all of them"
    example = 2

    def generate(rng):
        return int(rng.integers(2, 60))

    def drive(step, data):
        inside, states = [], []

        def level(n):
            with step.no_grad():
                inside.append(step.is_recording())
                if n > 0:
                    level(n - 1)

        @step.no_grad()
        def f(n):
            states.append(step.is_recording())
            if n > 0:
                f(n - 1)

        for nested in (level, f):
            step.mode.on = True
            nested(data)
        # What blocks in blocks do, `Nesting` asks; but the first is not switched off by another.
        pairs = zip(states[1:], inside[1:])  # noqa: B905
        states[1:] = [mine if mine != block else False for mine, block in pairs]
        states.append(step.is_recording())
        step.mode.on = True
        return states

    def expected(data):
        return [False] * (data + 1) + [True]


@check(
    step="decorator",
    points=2,
    concept="generator functions",
    cases=4,
    using=[from_off],
)
class Generators:
    in_words = (*("inside:", "piece:", "while it waits:") * 2, "at the end:")
    caption = "a generator with 2 pieces: the state in it, its number, and the state while it waits"
    example = {"pieces": 2, "on": [True]}

    def generate(rng):
        return {"pieces": int(rng.integers(1, 20)), "on": on_and_off(rng)}

    def drive(step, data):
        inside, after = from_off(step)
        states = []

        def seen(block):
            state = step.is_recording()
            return False if not on and state == block else state

        @step.no_grad()
        def pieces(count):
            for number in range(count):
                states.append(seen(inside))  # not yielded: a wrapper could exchange it
                yield number

        for on in data["on"]:
            step.mode.on = on
            for piece in pieces(data["pieces"]):
                states += [piece, seen(after)]
            states.append(seen(after))
        step.mode.on = True
        return states

    def expected(data):
        states = []
        for on in data["on"]:
            for number in range(data["pieces"]):
                states += [False, number, on]
            states.append(on)
        return states
