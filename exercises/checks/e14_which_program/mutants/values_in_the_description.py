# message: values_in_the_description
def describe(root):
    number, rows = {}, []
    for node in nodes_behind(root):
        number[node] = len(rows)
        rows.append((node.op, node.name, node.value, [number[x] for x in node.inputs]))
    return rows
