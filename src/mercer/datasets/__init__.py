"""Small real tables that come with the library."""

__all__: list[str] = []
