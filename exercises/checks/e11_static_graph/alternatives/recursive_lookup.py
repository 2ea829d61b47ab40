# Computes what the result needs by recursion, after all guards were asked.
def replay(tape, result, values):
    def compute(ref):
        kind, what = ref
        if kind == "constant":
            return what
        if kind == "input":
            return values[what]
        op, left, right = tape[what]
        a, b = compute(left), compute(right)
        return a + b if op == "add" else a * b

    for note in tape:
        if note[0] == "guard" and (compute(note[1]) > note[2]) != note[3]:
            raise BranchChanged()
    return compute(result)


def gradients(tape, values, results):
    def slopes(ref):
        kind, what = ref
        if kind == "constant":
            return [0.0] * len(values)
        if kind == "input":
            return [1.0 if i == what else 0.0 for i in range(len(values))]
        op, left, right = tape[what]
        pairs = zip(slopes(left), slopes(right))
        if op == "add":
            return [a + b for a, b in pairs]
        x, y = number(left), number(right)
        return [a * y + x * b for a, b in pairs]

    def number(ref):
        kind, what = ref
        return what if kind == "constant" else values[what] if kind == "input" else results[what]

    return slopes(("result", len(tape) - 1))
