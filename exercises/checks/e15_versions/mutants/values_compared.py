# message: values_compared


class Saved:
    def __init__(self, array):
        self.array = array
        self.version = array.version
        self.data = array.data.copy()

    def get(self):
        if not np.array_equal(self.array.data, self.data):
            now = self.array.version
            raise RuntimeError(f"saved at version {self.version}, now at version {now}")
        return self.array.data
