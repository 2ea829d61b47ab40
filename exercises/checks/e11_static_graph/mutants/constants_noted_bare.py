# message: constants_noted_bare


class Tracer:
    """A number that notes on a tape what is done with it."""

    def __init__(self, value, ref, tape):
        self.value = value
        self.ref = ref
        self.tape = tape

    def record(self, op, left, right):
        pairs = [(x.value, x.ref) if isinstance(x, Tracer) else (x, x) for x in (left, right)]
        (a, left_ref), (b, right_ref) = pairs
        self.tape.append((op, left_ref, right_ref))
        value = a + b if op == "add" else a * b
        return Tracer(value, ("result", len(self.tape) - 1), self.tape)

    def __gt__(self, number):
        answer = self.value > number
        self.tape.append(("guard", self.ref, number, answer))
        return answer

    def __add__(self, other):
        return self.record("add", self, other)

    def __mul__(self, other):
        return self.record("mul", self, other)

    def __radd__(self, number):
        return self.record("add", number, self)

    def __rmul__(self, number):
        return self.record("mul", number, self)


def trace(function, values):
    """Run the function once; return the tape and the ref of the result."""
    tape = []
    inputs = [Tracer(value, ("input", i), tape) for i, value in enumerate(values)]
    return tape, function(*inputs).ref
