# message: operations_forgotten
def describe(root):
    number, rows = {}, []
    for node in nodes_behind(root):
        number[node] = len(rows)
        rows.append((node.name, [number[x] for x in node.inputs]))
    return rows
