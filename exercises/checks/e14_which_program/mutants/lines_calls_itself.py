# message: lines_calls_itself
def write_down(root):
    names, lines = {}, []

    def name_of(node):
        if not node.inputs:
            return node.name
        if node not in names:
            left, right = name_of(node.inputs[0]), name_of(node.inputs[1])
            names[node] = f"t{len(lines)}"
            lines.append(f"{names[node]} = {left} {node.op} {right}")
        return names[node]

    name_of(root)
    return lines
