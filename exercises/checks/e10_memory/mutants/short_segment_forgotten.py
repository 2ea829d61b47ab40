# message: short_segment_forgotten
def gradient(blocks, saved, every, g):
    for start in reversed(range(0, len(blocks) - every + 1, every)):
        segment = blocks[start : start + every]
        inputs = [saved[start]]
        for block in segment[:-1]:
            inputs.append(block.forward(inputs[-1]))
        for block, x in zip(reversed(segment), reversed(inputs), strict=True):
            g = block.rule(g, x)
    return g
