# message: sums_in_the_loop
def power(x, n):
    y = Node(1.0)
    for _ in range(n):
        y = y + x
    return y
