# message: asked_or_not
def to_save(op, x_needs, y_needs):
    return {"add": [], "mul": ["x", "y"], "sin": ["x"]}.get(op, ["out"])
