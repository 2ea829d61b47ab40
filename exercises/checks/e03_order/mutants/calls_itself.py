# message: calls_itself
def order(root):
    seen, result = set(), []

    def visit(node):
        if id(node) in seen:
            return
        seen.add(id(node))
        for x in node.inputs:
            visit(x)
        result.append(node)

    visit(root)
    return result[::-1]
