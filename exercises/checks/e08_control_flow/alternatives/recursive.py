# Calls itself instead of looping.
def power(x, n):
    if n == 0:
        return Node(1.0)
    half = power(x, n // 2)
    return half * half * x if n % 2 else half * half


def rounds(x, n, y=None):
    y = x if y is None else y
    if n == 0:
        return y
    return rounds(x, n - 1, y * 0.5 if y.value > 2 else x * y + 1)


def tree_value(tree, w):
    try:
        left, right = tree
    except TypeError:
        return Node(tree) * w
    return w * (tree_value(right, w) + tree_value(left, w))
