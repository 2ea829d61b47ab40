# message: numbers_instead_of_names
def write_down(root):
    lines = []
    for node in nodes_behind(root):
        if node.inputs:
            left, right = node.inputs
            lines.append(f"t{len(lines)} = {left.value} {node.op} {right.value}")
    return lines
