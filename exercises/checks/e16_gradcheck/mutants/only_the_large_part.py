# message: only_the_large_part
def softplus(x):
    return np.maximum(x, 0.0)
