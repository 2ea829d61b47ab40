# message: root_comes_first
def write_down(root):
    nodes = nodes_behind(root)[::-1]
    names = {node: node.name for node in nodes}
    made = [node for node in nodes if node.inputs]
    for number, node in enumerate(made):
        names[node] = f"t{number}"
    return [f"{names[n]} = {names[n.inputs[0]]} {n.op} {names[n.inputs[1]]}" for n in made]
