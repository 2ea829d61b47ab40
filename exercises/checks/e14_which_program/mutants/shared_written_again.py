# message: shared_written_again
def write_down(root):
    lines = []

    def name_of(node):
        if not node.inputs:
            return node.name
        left, right = name_of(node.inputs[0]), name_of(node.inputs[1])
        lines.append(f"t{len(lines)} = {left} {node.op} {right}")
        return f"t{len(lines) - 1}"

    name_of(root)
    return lines
