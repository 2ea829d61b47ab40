# message: softplus_mirrored
def softplus(x):
    return np.logaddexp(0.0, -x)
