# message: first_input_for_all


def replay(tape, result, values):
    """Compute a traced function for new inputs, or raise BranchChanged."""
    results = []

    def value(ref):
        kind, what = ref
        if kind == "input":
            return values[0]
        return results[what] if kind == "result" else what

    for op, left, *rest in tape:
        if op == "guard":
            number, answer = rest
            if (value(left) > number) != answer:
                raise BranchChanged
            results.append(None)
        elif op == "add":
            results.append(value(left) + value(rest[0]))
        else:
            results.append(value(left) * value(rest[0]))
    return value(result)
