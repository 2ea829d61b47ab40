# Writes the cases with match, and keeps cotangents in one list for both kinds.
def lookup(ref, values, results):
    match ref:
        case ("constant", number):
            return number
        case ("input", i):
            return values[i]
        case ("result", i):
            return results[i]


def replay(tape, result, values):
    results = []
    for note in tape:
        match note:
            case ("guard", ref, number, answer):
                if answer != (lookup(ref, values, results) > number):
                    raise BranchChanged("another branch")
                results.append(answer)
            case ("add", a, b):
                results.append(lookup(a, values, results) + lookup(b, values, results))
            case ("mul", a, b):
                results.append(lookup(a, values, results) * lookup(b, values, results))
    return lookup(result, values, results)


def gradients(tape, values, results):
    n = len(values)
    total = [0.0] * (n + len(tape))
    total[-1] = 1.0
    where = lambda ref: ref[1] if ref[0] == "input" else n + ref[1]
    for i in range(len(tape) - 1, -1, -1):
        match tape[i]:
            case ("add", a, b):
                slopes = ((a, 1.0), (b, 1.0))
            case ("mul", a, b):
                slopes = ((a, lookup(b, values, results)), (b, lookup(a, values, results)))
            case _:
                slopes = ()
        for ref, slope in slopes:
            if ref[0] != "constant":
                total[where(ref)] += slope * total[n + i]
    return total[:n]
