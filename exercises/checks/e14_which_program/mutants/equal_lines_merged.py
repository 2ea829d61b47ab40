# message: equal_lines_merged
def write_down(root):
    names, lines, made = {}, [], {}
    for node in nodes_behind(root):
        if node.inputs:
            left, right = node.inputs
            text = f"{names[left]} {node.op} {names[right]}"
            if text not in made:
                made[text] = f"t{len(lines)}"
                lines.append(f"{made[text]} = {text}")
            names[node] = made[text]
        else:
            names[node] = node.name
    return lines
