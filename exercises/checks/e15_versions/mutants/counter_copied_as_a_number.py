# message: counter_copied_as_a_number


class Array:
    def __init__(self, data, counter=0):
        self.data = data
        self.counter = counter

    @property
    def version(self):
        return self.counter

    def add_(self, number):
        self.data += number
        self.counter += 1

    def mul_(self, number):
        self.data *= number
        self.counter += 1

    def view(self, start, stop):
        return Array(self.data[start:stop], self.counter)

    def detach(self):
        return Array(self.data, self.counter)

    def copy(self):
        return Array(self.data.copy())
