# Walks the tree with a stack and hands the weight down.
from functools import reduce


def power(x, n):
    return reduce(lambda y, factor: y * factor, [x] * n, Node(1.0))


def rounds(x, n):
    def one_round(y, _):
        return {True: lambda: y * 0.5, False: lambda: y * x + 1}[y.value > 2]()

    return reduce(one_round, range(n), x)


def tree_value(tree, w):
    total, waiting = Node(0.0), [(tree, w)]
    while waiting:
        part, weight = waiting.pop()
        if isinstance(part, tuple):
            waiting += [(side, weight * w) for side in part]
        else:
            total = total + weight * part
    return total
