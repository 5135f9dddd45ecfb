"""The exceptions that Jumar raises. The native extension raises these classes too."""

from __future__ import annotations


class CompileError(RuntimeError):
    """A graph, an option or a file is at fault: the message names it, its value and what is allowed."""


class InputError(RuntimeError):
    """A tensor or number passed to a compiled function breaks what it was compiled for."""


class InternalError(RuntimeError):
    """A bug in Jumar; the message has the path of a file that reproduces it (`jumar opt` reads it)."""
