# message: gradient_times_the_loss
def mean_loss_rule(g, losses, lengths):
    real = np.arange(losses.shape[1]) < lengths[:, None]
    return np.where(real, g * losses / lengths.sum(), 0.0)
