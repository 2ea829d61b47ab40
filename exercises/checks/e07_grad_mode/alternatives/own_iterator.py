# Wraps a generator in an iterator of its own.
class no_grad:
    def __enter__(self):
        self.previous, mode.on = mode.on, False

    def __exit__(self, kind, error, trace):
        mode.on = self.previous

    def __call__(self, function):
        class Pieces:
            def __init__(self, source):
                self.source = source

            def __iter__(self):
                return self

            def __next__(self):
                with no_grad():
                    return next(self.source)

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with no_grad():
                result = function(*args, **kwargs)
            return Pieces(result) if inspect.isgenerator(result) else result

        return wrapped
