"""How is a place spelled on the wire? As a URL, without a slash at its end."""

from urllib.parse import quote

from headgate.storage.location_spelling import is_local, local_path


def location_url(location: str) -> str:
    """A place as every client can read it."""
    return f"file://{quote(local_path(location))}" if is_local(location) else location.rstrip("/")
