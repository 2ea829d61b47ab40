# message: everything_held
def gradient(blocks, saved, every, g):
    inputs = [saved[0]]
    for block in blocks[:-1]:
        inputs.append(block.forward(inputs[-1]))
    for block, x in zip(reversed(blocks), reversed(inputs), strict=True):
        g = block.rule(g, x)
    return g
