# message: number_of_changes_named


class Saved:
    def __init__(self, array):
        self.array = array
        self.version = array.version

    def get(self):
        changes = self.array.version - self.version
        if changes:
            raise RuntimeError(f"changed {changes} times since it was saved")
        return self.array.data
