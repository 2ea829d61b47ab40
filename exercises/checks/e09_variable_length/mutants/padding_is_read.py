# message: padding_is_read
def final_states(padded, lengths, w, u):
    h = np.zeros(len(padded))
    for time in range(padded.shape[1]):
        h = np.tanh(w * h + u * padded[:, time])
    return h
