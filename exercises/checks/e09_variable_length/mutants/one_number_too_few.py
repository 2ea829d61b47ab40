# message: one_number_too_few
def final_states(padded, lengths, w, u):
    h = np.zeros(len(padded))
    for time in range(padded.shape[1]):
        h = np.where(time < lengths - 1, np.tanh(w * h + u * padded[:, time]), h)
    return h
