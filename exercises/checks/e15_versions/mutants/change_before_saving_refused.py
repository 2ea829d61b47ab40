# message: change_before_saving_refused


class Saved:
    def __init__(self, array):
        self.array = array

    def get(self):
        now = self.array.version
        if now > 0:
            raise RuntimeError(f"saved at version 0, now at version {now}")
        return self.array.data
