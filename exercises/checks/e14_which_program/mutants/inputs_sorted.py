# message: inputs_sorted
def describe(root):
    number, rows = {}, []
    for node in nodes_behind(root):
        number[node] = len(rows)
        rows.append((node.op, node.name, sorted(number[x] for x in node.inputs)))
    return rows
