# message: returns_none


class Saved:
    def __init__(self, array):
        self.array = array
        self.version = array.version

    def get(self):
        if self.array.version != self.version:
            return None
        return self.array.data
