# message: used_before_its_line
def write_down(root):
    nodes = [root]
    names = {root: ""}
    for node in nodes:
        for x in node.inputs:
            if x not in names:
                names[x] = x.name
                if x.inputs:
                    nodes.append(x)
    nodes.reverse()
    for number, node in enumerate(nodes):
        names[node] = f"t{number}"
    return [f"{names[n]} = {names[n.inputs[0]]} {n.op} {names[n.inputs[1]]}" for n in nodes]
