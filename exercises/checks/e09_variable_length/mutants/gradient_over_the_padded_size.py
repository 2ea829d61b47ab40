# message: gradient_over_the_padded_size
def mean_loss_rule(g, losses, lengths):
    real = np.arange(losses.shape[1]) < lengths[:, None]
    return np.where(real, g / losses.size, 0.0)
