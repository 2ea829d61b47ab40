# message: ends_of_segments_saved
def run(blocks, x, every):
    saved = {}
    for number, block in enumerate(blocks):
        if number % every == every - 1:
            saved[number] = x
        x = block.forward(x)
    return x, saved
