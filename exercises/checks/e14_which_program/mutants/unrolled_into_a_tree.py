# message: unrolled_into_a_tree
def describe(root):
    if not root.inputs:
        return root.name
    return root.op, *(describe(x) for x in root.inputs)
