"""Is recording off where it should be, and back as it was everywhere else?"""

from autodiff_kit.grading.checks import check


@check(step="context", points=2, concept="blocks inside of blocks", cases=4)
class Nesting:
    shown = (
        "a block in a block: is recording on inside, between and after (inner object made first)"
    )
    example = {"on": True, "ahead": [False, True]}

    def generate(rng):
        more = rng.random(int(rng.integers(1, 9))) < 0.5
        ahead = [bool(a) for a in rng.permutation([True, False, *more])]
        return {"on": bool(rng.random() < 0.5), "ahead": ahead}

    def drive(step, data):
        step.mode.on = data["on"]
        made = [step.no_grad() if ahead else None for ahead in data["ahead"]]
        states = []

        def level(number):
            states.append(step.is_recording())
            if number < len(made):
                with made[number] or step.no_grad():
                    level(number + 1)
                states.append(step.is_recording())

        level(0)
        step.mode.on = True
        return states

    def expected(data):
        depth = len(data["ahead"])
        return [data["on"]] + [False] * (2 * depth - 1) + [data["on"]]


@check(step="context", points=3, concept="errors")
class Errors:
    shown = (
        "an error in a block: is recording on in the block, which error comes out, and is it on "
        "afterwards"
    )
    example = {"on": True, "depth": 1, "error": 0}

    def generate(rng):
        on, depth, error = rng.random() < 0.6, rng.integers(1, 12), rng.integers(0, 3)
        return {"on": bool(on), "depth": int(depth), "error": int(error)}

    def drive(step, data):
        step.mode.on = data["on"]
        kinds = [ValueError, KeyError, ZeroDivisionError]

        inside = []

        def level(number):
            if number == 0:
                raise kinds[data["error"]]
            with step.no_grad():
                inside.append(step.is_recording())
                level(number - 1)

        came = "none"
        try:
            level(data["depth"])
        except (ValueError, KeyError, ZeroDivisionError) as error:
            came = type(error).__name__
        after = step.is_recording()
        step.mode.on = True
        return [inside, came, after]

    def expected(data):
        came = ["ValueError", "KeyError", "ZeroDivisionError"][data["error"]]
        return [[False] * data["depth"], came, data["on"]]


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
    example = {"pieces": 2, "on": True}

    def generate(rng):
        return {"pieces": int(rng.integers(1, 20)), "on": bool(rng.random() < 0.7)}

    def drive(step, data):
        step.mode.on = data["on"]

        states = []

        @step.no_grad()
        def pieces(count):
            for number in range(count):
                states.append(step.is_recording())  # not yielded: a wrapper could exchange it
                yield number

        for piece in pieces(data["pieces"]):
            states += [piece, step.is_recording()]
        states.append(step.is_recording())
        step.mode.on = True
        return states

    def expected(data):
        pieces = [[False, number, data["on"]] for number in range(data["pieces"])]
        return [*(state for piece in pieces for state in piece), data["on"]]
