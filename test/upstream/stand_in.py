"""Stand-ins for what an upstream server needs besides its own code: its model, and packages that are not installed."""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import types
from unittest.mock import MagicMock

import numpy

SENTENCE = "The weather is fine today."


def tone(text, rate):
    """A tone of 60 ms a word, as floats."""
    seconds = 0.06 * (len(text.split()) + 1)
    return (0.3 * numpy.sin(numpy.arange(int(seconds * rate)) * 2 * numpy.pi * 220 / rate)).astype(numpy.float32)


def pcm16(samples):
    return (samples * 32767).astype(numpy.int16)


def module(name, **contents):
    """Puts a module in place of upstream's or of a package."""
    made = types.ModuleType(name)
    made.__dict__.update(contents)
    sys.modules[name] = made
    return made


class _Empty(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return MagicMock(name=f"{self.__name__}.{name}")


class _Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in self.names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return _Empty(spec.name)

    def exec_module(self, made):
        pass


def absent(*names):
    """Replaces those of the packages that are not installed."""
    missing = {name for name in names if importlib.util.find_spec(name) is None}
    sys.meta_path.insert(0, _Absent(missing))


def on_loopback():
    """Servers that listen on all addresses listen on loopback alone."""
    import uvicorn

    run = uvicorn.run
    uvicorn.run = lambda app, **options: run(app, **{**options, "host": "127.0.0.1", "log_level": "warning"})


def begin():
    """Returns the checkout and the port, and works in a folder of its own."""
    source, port = os.path.abspath(sys.argv[1]), sys.argv[2]
    os.chdir(tempfile.mkdtemp(prefix="dramatis-upstream-"))
    return source, port
