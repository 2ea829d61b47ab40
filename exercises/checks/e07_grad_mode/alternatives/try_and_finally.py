# A function that returns a helper; everything is put back in finally.
import contextlib


class _Switch(contextlib.ContextDecorator):
    def _recreate_cm(self):
        return _Switch()

    def __enter__(self):
        self.old = mode.on
        mode.on = False
        return self

    def __exit__(self, *details):
        mode.on = self.old

    def __call__(self, function):
        if not inspect.isgeneratorfunction(function):
            return super().__call__(function)

        def generator(*args, **kwargs):
            source = iter(function(*args, **kwargs))
            going = True
            while going:
                old, mode.on = mode.on, False
                try:
                    value = next(source)
                except StopIteration:
                    going = False
                finally:
                    mode.on = old
                if going:
                    yield value

        return generator


def no_grad():
    return _Switch()
