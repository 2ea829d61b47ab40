# Computes each block of a segment again, the last one, too, which is allowed.
def to_save(op, x_needs, y_needs):
    if op == "mul":
        return ["y"] * x_needs + ["x"] * y_needs
    return {"add": [], "sin": ["x"]}.get(op, ["out"]) * x_needs


def run(blocks, x, every):
    values = [x]
    for block in blocks:
        values.append(block.forward(values[-1]))
    return values[-1], {i: values[i] for i in range(len(blocks)) if not i % every}


def gradient(blocks, saved, every, g):
    starts = list(saved)
    starts.sort()
    while starts:
        start = starts.pop()
        values = [saved[start]]
        for block in blocks[start : start + every]:
            values.append(block.forward(values[-1]))
        values.pop()
        for i in range(len(values) - 1, -1, -1):
            g = blocks[start + i].rule(g, values[i])
    return g
