# message: sum_without_a_state
def final_state(sequence, w, u):
    return np.tanh(u * np.sum(sequence))
