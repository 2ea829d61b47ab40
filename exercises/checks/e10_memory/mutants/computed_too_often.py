# message: computed_too_often
def gradient(blocks, saved, every, g):
    for number in reversed(range(len(blocks))):
        x = saved[0]
        for block in blocks[:number]:
            x = block.forward(x)
        g = blocks[number].rule(g, x)
    return g
