# Counts down, with while; keeps the parts of a pair in a list.
def power(x, n):
    y = Node(1.0)
    while n > 0:
        y, n = x * y, n - 1
    return y


def rounds(x, n):
    y = x
    while n > 0:
        n -= 1
        if y.value > 2:
            y = y * 0.5
        else:
            y = 1.0 + x * y
    return y


def tree_value(tree, w):
    if not isinstance(tree, tuple):
        return tree * w
    total = Node(0.0)
    for part in tree:
        total = total + w * tree_value(part, w)
    return total
