# message: loop_in_plain_numbers
def power(x, n):
    y = 1.0
    for _ in range(n):
        y = y * x.value
    return Node(y)
