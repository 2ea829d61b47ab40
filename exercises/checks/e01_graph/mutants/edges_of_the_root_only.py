# message: edges_of_the_root_only
def edges(root):
    return [(root, x) for x in root.inputs]
