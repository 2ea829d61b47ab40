# message: versions_exchanged


class Saved:
    def __init__(self, array):
        self.array = array
        self.version = array.version

    def get(self):
        now = self.array.version
        if now != self.version:
            raise RuntimeError(f"saved at version {now}, now at version {self.version}")
        return self.array.data
