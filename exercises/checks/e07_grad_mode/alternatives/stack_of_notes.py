# Keeps all notes on a stack, so that one object serves any number of blocks.
class no_grad:
    def __init__(self):
        self.notes = []

    def __enter__(self):
        self.notes.append(is_recording())
        mode.on = False
        return self

    def __exit__(self, *error):
        mode.on = self.notes.pop()
        return False

    def __call__(self, function):
        def wrapped(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        def wrapped_generator(*args, **kwargs):
            source = function(*args, **kwargs)
            end = object()
            while True:
                with self:
                    value = next(source, end)
                if value is end:
                    break
                yield value

        return wrapped_generator if inspect.isgeneratorfunction(function) else wrapped
