# message: begins_with_one
def gradient(blocks, saved, every, g):
    g = 1.0
    for start in sorted(saved, reverse=True):
        segment = blocks[start : start + every]
        inputs = [saved[start]]
        for block in segment[:-1]:
            inputs.append(block.forward(inputs[-1]))
        for block, x in zip(reversed(segment), reversed(inputs), strict=True):
            g = block.rule(g, x)
    return g
