# message: inputs_exchanged
def write_down(root):
    names, lines = {}, []
    for node in nodes_behind(root):
        if node.inputs:
            left, right = node.inputs
            names[node] = f"t{len(lines)}"
            lines.append(f"{names[node]} = {names[right]} {node.op} {names[left]}")
        else:
            names[node] = node.name
    return lines
