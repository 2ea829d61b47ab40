# message: gradient_without_g
def mean_loss_rule(g, losses, lengths):
    real = np.arange(losses.shape[1]) < lengths[:, None]
    return np.where(real, 1.0 / lengths.sum(), 0.0)
