# message: saves_a_copy


class Saved:
    def __init__(self, array):
        self.array = array.copy()
        self.version = self.array.version

    def get(self):
        now = self.array.version
        if now != self.version:
            raise RuntimeError(f"saved at version {self.version}, now at version {now}")
        return self.array.data
