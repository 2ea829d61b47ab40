# message: loop_result_detached
def power(x, n):
    y = Node(1.0)
    for _ in range(n):
        y = Node(y.value) * x
    return y
