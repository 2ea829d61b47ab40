# message: names_forgotten
def describe(root):
    number, rows = {}, []
    for node in nodes_behind(root):
        number[node] = len(rows)
        rows.append((node.op, [number[x] for x in node.inputs]))
    return rows
