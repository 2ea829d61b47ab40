# message: one_long_line
def write_down(root):
    def text(node):
        if not node.inputs:
            return node.name
        return f"({text(node.inputs[0])} {node.op} {text(node.inputs[1])})"

    return [f"t0 = {text(root)}"]
