# message: state_is_forgotten
def final_state(sequence, w, u):
    h = 0.0
    for x in sequence:
        h = np.tanh(u * x)
    return h
