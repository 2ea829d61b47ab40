# message: description_calls_itself
def describe(root):
    number, rows = {}, []

    def visit(node):
        if node not in number:
            inputs = [visit(x) for x in node.inputs]
            number[node] = len(rows)
            rows.append((node.op, node.name, inputs))
        return number[node]

    visit(root)
    return rows
