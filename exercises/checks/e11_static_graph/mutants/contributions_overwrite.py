# message: contributions_overwrite


def gradients(tape, values, results):
    """Return the gradient of the last result, one number for each input."""
    to_input, to_result = [0.0] * len(values), [0.0] * len(results)
    to_result[-1] = 1.0

    def value(ref):
        kind, what = ref
        return {"input": values, "result": results}[kind][what] if kind != "constant" else what

    def send(ref, contribution):
        kind, what = ref
        if kind != "constant":
            {"input": to_input, "result": to_result}[kind][what] = contribution

    for place in reversed(range(len(tape))):
        op, left, right, *_ = tape[place]
        g = to_result[place]
        if op == "add":
            send(left, g)
            send(right, g)
        elif op == "mul":
            send(left, g * value(right))
            send(right, g * value(left))
    return to_input
