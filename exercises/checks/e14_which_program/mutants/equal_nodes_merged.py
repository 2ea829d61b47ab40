# message: equal_nodes_merged
def describe(root):
    number, rows = {}, {}
    for node in nodes_behind(root):
        row = (node.op, node.name, *(number[x] for x in node.inputs))
        number[node] = rows.setdefault(row, len(rows))
    return rows
