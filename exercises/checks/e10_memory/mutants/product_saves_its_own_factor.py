# message: product_saves_its_own_factor
def to_save(op, x_needs, y_needs):
    reads = {"add": ("", ""), "mul": ("x", "y"), "sin": ("x", "")}
    for_x, for_y = reads.get(op, ("out", ""))
    return [name for name, asked in ((for_x, x_needs), (for_y, y_needs)) if asked and name]
