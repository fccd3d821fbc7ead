"""The `mercer` command, as `python -m mercer`."""

from mercer._command import main

main()
