# message: message_without_versions


class Saved:
    def __init__(self, array):
        self.array = array
        self.version = array.version

    def get(self):
        if self.array.version != self.version:
            raise RuntimeError("a saved array was changed in place")
        return self.array.data
