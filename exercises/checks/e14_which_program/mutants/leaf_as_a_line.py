# message: leaf_as_a_line
def write_down(root):
    names, lines = {}, []
    for node in nodes_behind(root):
        names[node] = f"t{len(lines)}"
        if node.inputs:
            left, right = node.inputs
            lines.append(f"{names[node]} = {names[left]} {node.op} {names[right]}")
        else:
            lines.append(f"{names[node]} = {node.name}")
    return lines
