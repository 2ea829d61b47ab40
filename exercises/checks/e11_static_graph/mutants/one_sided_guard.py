# message: one_sided_guard


def replay(tape, result, values):
    """Compute a traced function for new inputs, or raise BranchChanged."""
    results = []

    def value(ref):
        kind, what = ref
        return {"input": values, "result": results}[kind][what] if kind != "constant" else what

    for op, left, *rest in tape:
        if op == "guard":
            number, answer = rest
            if answer and value(left) <= number:
                raise BranchChanged
            results.append(None)
        elif op == "add":
            results.append(value(left) + value(rest[0]))
        else:
            results.append(value(left) * value(rest[0]))
    return value(result)
