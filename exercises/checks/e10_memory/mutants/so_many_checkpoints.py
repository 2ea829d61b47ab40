# message: so_many_checkpoints
def run(blocks, x, every):
    saved, step = {}, max(1, len(blocks) // every)
    for number, block in enumerate(blocks):
        if number % step == 0:
            saved[number] = x
        x = block.forward(x)
    return x, saved
