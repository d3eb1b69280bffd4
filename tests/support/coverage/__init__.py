"""Branch coverage of the package, measured by SlipCover.

On Python 3.11 coverage.py gets a call for every line of every module, whoever wrote it, and more than doubles the time
of the suite. SlipCover puts probes into the code of the modules to be measured, and nothing else becomes slower.
"""
