# message: other_values_in_the_leaves
def which(root, programs, leaves):
    for index, program in enumerate(programs):
        fresh = [Node(0.0, name=leaf.name) for leaf in leaves]
        if describe(program(*fresh)) == describe(root):
            return index
