# message: divided_by_the_batch
def mean_loss(losses, lengths):
    real = np.arange(losses.shape[1]) < lengths[:, None]
    return losses[real].sum() / len(lengths)
