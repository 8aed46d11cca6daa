"""The one exception for what a user gave and this program cannot use."""


class UserError(Exception):
    """Text for the user: names the file, the key or line, the value, and what was expected.

    The command line prints it as it stands and exits 2; no traceback is ever shown for it.
    """


def reason(error: OSError | ValueError) -> str:
    """Why a file could not be read or written, for a message: the system's word where there is one."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
