"""The kit in a link: a folder of static files in which lessons run without an install.

After reading you can say what ``autodiff-kit site OUT`` puts together, and which file does which
part of it:

- ``pyodide.py``: which packages the Python in the browser needs, and where each comes from;
- ``contents.py``: the notebooks that learners get there;
- ``first_look.py``: for each lesson a program to step through while Python starts;
- ``pages.py``: the page with all lessons, and the page around an open one;
- ``build.py``: all of it in one folder, with JupyterLite;
- ``trial.py``: opens the site in a real Chromium and says what it saw;
- ``command.py``: the command itself.

Read next: ``build.py``.
"""
