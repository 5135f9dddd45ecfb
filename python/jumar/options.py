"""Options of `torch.compile(..., options={...})` as the text that the native option table checks."""

from __future__ import annotations

from typing import Any, Mapping

from .errors import CompileError

# Modes that torch.compile documents. Jumar compiles in one way: they are accepted so that code which names one
# runs, and change nothing.
_MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


def option_text(options: Mapping[str, Any] | None, mode: str | None = None) -> str:
    """"name=value" lines, sorted by name. Names and ranges are checked by the table (src/support/options.def)."""
    if mode is not None and mode not in _MODES:
        raise CompileError(f"mode={mode!r}: expected one of {', '.join(_MODES)}")
    if options is None:
        return ""
    if not isinstance(options, Mapping):
        raise CompileError(f"options={options!r}: expected a dict of option names and values")
    return "".join(f"{name}={_value_text(name, options[name])}\n" for name in sorted(options, key=str))


def _value_text(name: Any, value: Any) -> str:
    if not isinstance(name, str) or not name.isidentifier():
        raise CompileError(f"option {name!r}: an option's name is a word such as 'cpu'")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value):
        value = ",".join(value)
    if not isinstance(value, (int, str)):
        raise CompileError(f"option {name}={value!r}: expected a bool, an integer, text or a list of texts")
    text = str(value)
    if "\n" in text:
        raise CompileError(f"option {name}={value!r}: a value is one line")
    return text


def flag(text: str, name: str) -> bool:
    """Whether a bool option is set in option text that the table has accepted."""
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key == name:
            return value.lower() in ("true", "1", "on", "yes")
    return False
