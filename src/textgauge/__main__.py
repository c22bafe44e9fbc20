"""`python -m textgauge`: the command `textgauge`."""

from textgauge.cli import main

if __name__ == "__main__":
    main()
