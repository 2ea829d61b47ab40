# message: first_input_only_saved
def run(blocks, x, every):
    saved = {0: x}
    for block in blocks:
        x = block.forward(x)
    return x, saved
