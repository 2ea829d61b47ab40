# message: state_set_to_zero_at_the_end
def final_states(padded, lengths, w, u):
    h = np.zeros(len(padded))
    for time in range(padded.shape[1]):
        h = np.where(time < lengths, np.tanh(w * h + u * padded[:, time]), 0.0)
    return h
