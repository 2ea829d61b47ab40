# message: rounds_detached
def rounds(x, n):
    y = x
    for _ in range(n):
        y = Node(y.value)
        y = 0.5 * y if y.value > 2 else y * x + 1.0
    return y
