# message: another_kind_of_error


class Saved:
    def __init__(self, array):
        self.array = array
        self.version = array.version

    def get(self):
        now = self.array.version
        if now != self.version:
            raise ValueError(f"saved at version {self.version}, now at version {now}")
        return self.array.data
