# message: gradient_not_divided
def mean_loss_rule(g, losses, lengths):
    real = np.arange(losses.shape[1]) < lengths[:, None]
    return np.where(real, g, 0.0)
