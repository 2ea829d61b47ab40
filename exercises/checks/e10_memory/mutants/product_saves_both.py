# message: product_saves_both
def to_save(op, x_needs, y_needs):
    if op == "mul":
        return ["x", "y"] if x_needs or y_needs else []
    return {"add": [], "sin": ["x"]}.get(op, ["out"]) if x_needs else []
