# message: results_saved
def run(blocks, x, every):
    saved = {}
    for number, block in enumerate(blocks):
        x = block.forward(x)
        if number % every == 0:
            saved[number] = x
    return x, saved
