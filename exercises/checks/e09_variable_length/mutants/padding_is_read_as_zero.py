# message: padding_is_read_as_zero
def final_states(padded, lengths, w, u):
    h = np.zeros(len(padded))
    for time in range(padded.shape[1]):
        h = np.tanh(w * h + u * np.where(time < lengths, padded[:, time], 0.0))
    return h
