# message: sum_saves_its_inputs
def to_save(op, x_needs, y_needs):
    reads = {"add": ("y", "x"), "mul": ("y", "x"), "exp": ("out", ""), "tanh": ("out", "")}
    for_x, for_y = reads.get(op, ("x", ""))
    return [name for name, asked in ((for_x, x_needs), (for_y, y_needs)) if asked and name]
