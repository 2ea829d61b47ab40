# message: softplus_overflows
def softplus(x):
    return np.log(1 + np.exp(x))
