"""The `jumar` command: python -m jumar opt ..."""

import sys

from jumar import _native


def main() -> int:
    return _native.main(["jumar", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
