"""A small documentation with programs to step through: ``sphinx-build -W . _build`` builds it."""

project = "What autograd does"
extensions = ["autodiff_kit.sphinxext", "myst_parser"]
exclude_patterns = ["_build"]
numfig = True

# The name `torch` in the programs is the kit. With "torch" it is PyTorch itself, where that is
# installed; what the pages show is the same.
autodiff_step_library = "kit"
