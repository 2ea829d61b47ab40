# message: right_side_forgotten
def tree_value(tree, w):
    if isinstance(tree, tuple):
        return tree_value(tree[0], w) * w
    return w * tree
