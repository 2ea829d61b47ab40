# message: leaves_once_per_use
def leaves(root):
    if not root.inputs:
        return [root] if root.requires_grad else []
    return [leaf for x in root.inputs for leaf in leaves(x)]
