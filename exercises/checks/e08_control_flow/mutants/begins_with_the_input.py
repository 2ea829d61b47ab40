# message: begins_with_the_input
def power(x, n):
    y = x
    for _ in range(n - 1):
        y = y * x
    return y
