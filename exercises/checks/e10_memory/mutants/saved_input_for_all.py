# message: saved_input_for_all
def gradient(blocks, saved, every, g):
    for start in sorted(saved, reverse=True):
        for block in reversed(blocks[start : start + every]):
            g = block.rule(g, saved[start])
            block.forward(saved[start])
    return g
