"""Run the command line: ``python -m autodiff_kit`` is the same as ``autodiff-kit``."""

from autodiff_kit.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
