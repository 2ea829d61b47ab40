# message: off_only_while_decorating


class no_grad:
    """Switch recording off: in a block, or in every call of a function."""

    def __enter__(self):
        self.before = mode.on
        mode.on = False

    def __exit__(self, error_type, error, trace):
        mode.on = self.before

    def __call__(self, function):
        with no_grad():
            return function
