# message: everything_saved
def to_save(op, x_needs, y_needs):
    return ["x", "y", "out"] if op in ("add", "mul") else ["x", "out"]
