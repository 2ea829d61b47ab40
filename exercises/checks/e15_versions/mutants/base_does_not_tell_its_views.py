# message: base_does_not_tell_its_views


class Array:
    def __init__(self, data, counter=None):
        self.data = data
        self.counter = [0] if counter is None else counter
        self.base = None
        self.count = self.counter[0]

    @property
    def version(self):
        return self.counter[0] if self.base is None else self.count

    def changed(self):
        self.count += 1
        if self.base is None:
            self.counter[0] += 1
        else:
            self.base.changed()

    def add_(self, number):
        self.data += number
        self.changed()

    def mul_(self, number):
        self.data *= number
        self.changed()

    def view(self, start, stop):
        part = Array(self.data[start:stop])
        part.base, part.count = self, self.version
        return part

    def detach(self):
        return Array(self.data, self.counter)

    def copy(self):
        return Array(self.data.copy())
