# message: segments_from_the_front
def gradient(blocks, saved, every, g):
    for start in sorted(saved):
        segment = blocks[start : start + every]
        inputs = [saved[start]]
        for block in segment[:-1]:
            inputs.append(block.forward(inputs[-1]))
        for block, x in zip(segment, reversed(inputs), strict=True):
            g = block.rule(g, x)
    return g
