# message: version_not_asked_again


class Saved:
    def __init__(self, array):
        self.array = array
        self.version = array.version

    def get(self):
        return self.array.data
