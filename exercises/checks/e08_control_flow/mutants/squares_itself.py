# message: squares_itself
def power(x, n):
    y = x if n else Node(1.0)
    for _ in range(n - 1):
        y = y * y
    return y
