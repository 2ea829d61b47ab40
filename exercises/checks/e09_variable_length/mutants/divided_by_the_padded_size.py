# message: divided_by_the_padded_size
def mean_loss(losses, lengths):
    real = np.arange(losses.shape[1]) < lengths[:, None]
    return losses[real].sum() / losses.size
