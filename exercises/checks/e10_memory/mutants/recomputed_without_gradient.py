# message: recomputed_without_gradient
def gradient(blocks, saved, every, g):
    for start in sorted(saved, reverse=True):
        x = saved[start]
        for block in blocks[start : start + every - 1]:
            block.forward(x)
        g = blocks[start].rule(g, x)
    return g
