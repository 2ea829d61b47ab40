# message: view_of_a_view_asks_the_view


class Array:
    def __init__(self, data, base=None):
        self.data = data
        self.base = base or self
        self.count = 0

    @property
    def version(self):
        return self.base.count

    def add_(self, number):
        self.data += number
        self.base.count += 1

    def mul_(self, number):
        self.data *= number
        self.base.count += 1

    def view(self, start, stop):
        return Array(self.data[start:stop], self)

    def detach(self):
        return Array(self.data, self.base)

    def copy(self):
        return Array(self.data.copy())
