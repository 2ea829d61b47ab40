# message: one_name_for_all
def write_down(root):
    names, lines = {}, []
    for node in nodes_behind(root):
        names[node] = "t" if node.inputs else node.name
        if node.inputs:
            left, right = node.inputs
            lines.append(f"t = {names[left]} {node.op} {names[right]}")
    return lines
