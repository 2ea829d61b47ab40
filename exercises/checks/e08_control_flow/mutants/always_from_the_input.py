# message: always_from_the_input
def rounds(x, n):
    y = x
    for _ in range(n):
        y = 0.5 * y if y.value > 2 else x * x + 1.0
    return y
