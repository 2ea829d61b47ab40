"""Is recording off where it should be, and back as it was everywhere else?"""

from autodiff_kit.grading.checks import check


def on_and_off(rng):
    """Return the states to begin with: both, as an end of a block may be right for one only."""
    return [bool(on) for on in rng.permutation([True, False])]


@check(step="context", points=2, concept="blocks inside of blocks", cases=4)
class Nesting:
    shown = (
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

        def level(number, made):
            states.append(step.is_recording())
            if number < len(made):
                with made[number] or step.no_grad():
                    level(number + 1, made)
                states.append(step.is_recording())

        for step.mode.on in data["on"]:
            level(0, [step.no_grad() if ahead else None for ahead in data["ahead"]])
        step.mode.on = True
        return states

    def expected(data):
        inside = [False] * (2 * len(data["ahead"]) - 1)
        return [state for on in data["on"] for state in (on, *inside, on)]


@check(step="context", points=3, concept="errors")
class Errors:
    shown = (
        "an error in a block: is recording on in the block, which error comes out, and is it on "
        "afterwards"
    )
    example = {"on": [True], "depth": 1, "error": 0}

    def generate(rng):
        return {
            "on": on_and_off(rng),
            "depth": int(rng.integers(1, 12)),
            "error": int(rng.integers(0, 3)),
        }

    def drive(step, data):
        kinds = [ValueError, KeyError, ZeroDivisionError]

        def level(number, inside):
            if number == 0:
                raise kinds[data["error"]]
            with step.no_grad():
                inside.append(step.is_recording())
                level(number - 1, inside)

        states = []
        for step.mode.on in data["on"]:
            inside, came = [], "none"
            try:
                level(data["depth"], inside)
            except (ValueError, KeyError, ZeroDivisionError) as error:
                came = type(error).__name__
            states += [inside, came, step.is_recording()]
        step.mode.on = True
        return states

    def expected(data):
        came = ["ValueError", "KeyError", "ZeroDivisionError"][data["error"]]
        runs = [[[False] * data["depth"], came, on] for on in data["on"]]
        return [state for run in runs for state in run]


@check(step="decorator", points=2, concept="every call, and what goes in and out")
class Decorated:
    shown = "f(7, scale=2) and f(7, scale=3), which multiply: state inside, result, and state after"
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
    shown = "a function that calls itself twice: the state in each call, and after all of them"
    example = 2

    def generate(rng):
        return int(rng.integers(2, 60))

    def drive(step, data):
        step.mode.on = True
        states = []

        @step.no_grad()
        def f(n):
            states.append(step.is_recording())
            if n > 0:
                f(n - 1)

        f(data)
        states.append(step.is_recording())
        step.mode.on = True
        return states

    def expected(data):
        return [False] * (data + 1) + [True]


@check(step="decorator", points=2, concept="generator functions", cases=4)
class Generators:
    shown = "a generator with 2 pieces: the state in it, its number, and the state while it waits"
    example = {"pieces": 2, "on": [True]}

    def generate(rng):
        return {"pieces": int(rng.integers(1, 20)), "on": on_and_off(rng)}

    def drive(step, data):
        states = []

        @step.no_grad()
        def pieces(count):
            for number in range(count):
                states.append(step.is_recording())  # not yielded: a wrapper could exchange it
                yield number

        for step.mode.on in data["on"]:
            for piece in pieces(data["pieces"]):
                states += [piece, step.is_recording()]
            states.append(step.is_recording())
        step.mode.on = True
        return states

    def expected(data):
        states = []
        for on in data["on"]:
            for number in range(data["pieces"]):
                states += [False, number, on]
            states.append(on)
        return states
