# message: noted_when_made


class no_grad:
    """Switch recording off: in a block, or in every call of a function."""

    def __init__(self):
        self.before = mode.on

    def __enter__(self):
        mode.on = False

    def __exit__(self, error_type, error, trace):
        mode.on = self.before

    def __call__(self, function):
        @functools.wraps(function)
        def in_pieces(*arguments, **named):
            pieces = function(*arguments, **named)
            while True:
                with no_grad():
                    try:
                        value = next(pieces)
                    except StopIteration:
                        return
                yield value

        @functools.wraps(function)
        def at_once(*arguments, **named):
            with no_grad():
                return function(*arguments, **named)

        return in_pieces if inspect.isgeneratorfunction(function) else at_once
