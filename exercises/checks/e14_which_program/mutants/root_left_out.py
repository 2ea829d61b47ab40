# message: root_left_out
def write_down(root):
    names, lines = {}, []
    for node in nodes_behind(root)[:-1]:
        if node.inputs:
            left, right = node.inputs
            names[node] = f"t{len(lines)}"
            lines.append(f"{names[node]} = {names[left]} {node.op} {names[right]}")
        else:
            names[node] = node.name
    return lines
