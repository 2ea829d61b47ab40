# message: results_instead_of_inputs
def gradient(blocks, saved, every, g):
    for start in sorted(saved, reverse=True):
        segment, x, results = blocks[start : start + every], saved[start], []
        for block in segment:
            x = block.forward(x)
            results.append(x)
        for block, x in zip(reversed(segment), reversed(results), strict=True):
            g = block.rule(g, x)
    return g
