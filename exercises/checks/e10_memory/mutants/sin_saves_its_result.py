# message: sin_saves_its_result
def to_save(op, x_needs, y_needs):
    reads = {"add": ("", ""), "mul": ("y", "x")}
    for_x, for_y = reads.get(op, ("out", ""))
    return [name for name, asked in ((for_x, x_needs), (for_y, y_needs)) if asked and name]
