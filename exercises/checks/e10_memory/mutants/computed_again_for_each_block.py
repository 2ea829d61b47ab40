# message: computed_again_for_each_block
def gradient(blocks, saved, every, g):
    for number in reversed(range(len(blocks))):
        start = number - number % every
        x = saved[start]
        for block in blocks[start : number + 1]:
            last, x = x, block.forward(x)
        g = blocks[number].rule(g, last)
    return g
