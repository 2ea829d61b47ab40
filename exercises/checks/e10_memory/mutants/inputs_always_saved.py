# message: inputs_always_saved
def to_save(op, x_needs, y_needs):
    return (["x"] if x_needs else []) + (["y"] if y_needs else [])
