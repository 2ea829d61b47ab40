# message: every_input_saved
def run(blocks, x, every):
    saved = {}
    for number, block in enumerate(blocks):
        saved[number] = x
        x = block.forward(x)
    return x, saved
