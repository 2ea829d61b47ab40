# message: numbers_detached
def tree_value(tree, w):
    if isinstance(tree, tuple):
        left, right = tree
        return (tree_value(left, w) + tree_value(right, w)) * w
    return Node(w.value * tree)
