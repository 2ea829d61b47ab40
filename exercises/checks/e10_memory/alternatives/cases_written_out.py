# Writes all cases out; walks segments by their number.
def to_save(op, x_needs, y_needs):
    names = set()
    if op == "mul":
        if x_needs:
            names.add("y")
        if y_needs:
            names.add("x")
    elif op in ("exp", "tanh") and x_needs:
        names.add("out")
    elif op == "sin" and x_needs:
        names.add("x")
    return names


def run(blocks, x, every):
    saved, number = {}, 0
    while number < len(blocks):
        saved[number] = x
        for block in blocks[number : number + every]:
            x = block.forward(x)
        number += every
    return x, saved


def gradient(blocks, saved, every, g):
    start = (len(blocks) - 1) // every * every
    while start >= 0:
        end = min(start + every, len(blocks))
        inputs = {start: saved[start]}
        for i in range(start, end - 1):
            inputs[i + 1] = blocks[i].forward(inputs[i])
        for i in range(end - 1, start - 1, -1):
            g = blocks[i].rule(g, inputs[i])
        start -= every
    return g
