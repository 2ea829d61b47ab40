# message: edges_again_for_every_user
def edges(root):
    pairs = []
    for x in root.inputs:
        pairs.append((root, x))
        pairs.extend(edges(x))
    return pairs
