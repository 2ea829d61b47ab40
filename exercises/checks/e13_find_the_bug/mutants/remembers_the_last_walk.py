# message: remembers_the_last_walk


def visit(node):
    return broken_visit(node)
