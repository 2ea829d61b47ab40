# The segment's gradient calls itself for the rest of the segment.
def to_save(op, x_needs, y_needs):
    formulas = {
        "add": ("g", "g"),
        "mul": ("g y", "g x"),
        "exp": ("g out", ""),
        "tanh": ("g out", ""),
        "sin": ("g x", ""),
    }
    read = formulas[op][0].split() * x_needs + formulas[op][1].split() * y_needs
    return [name for name in ("x", "y", "out") if name in read]


def run(blocks, x, every, first=0):
    if not blocks:
        return x, {}
    here = {first: x}
    for block in blocks[:every]:
        x = block.forward(x)
    out, rest = run(blocks[every:], x, every, first + every)
    return out, {**here, **rest}


def gradient(blocks, saved, every, g):
    def back(segment, x, g):
        if len(segment) > 1:
            g = back(segment[1:], segment[0].forward(x), g)
        return segment[0].rule(g, x)

    for start in reversed(range(0, len(blocks), every)):
        g = back(blocks[start : start + every], saved[start], g)
    return g
