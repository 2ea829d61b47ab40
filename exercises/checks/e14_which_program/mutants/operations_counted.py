# message: operations_counted
def describe(root):
    ops = [node.op + node.name for node in nodes_behind(root)]
    return {op: ops.count(op) for op in ops}
