"""Why is there no TLS connection, in words, and what is to be done about it? By what OpenSSL found wrong."""

import ssl
from collections.abc import Mapping

_OTHER_AUTHORITY = (
    "nobody whom this machine trusts has signed it. Name the file of the authority that did, with "
    "Settings(http=HttpSettings(ca_file=…)) or SSL_CERT_FILE"
)
_OTHER_NAME = "it is not for {named}. Address the server by a name that its certificate has"
_OVER = "its time is over, or this machine's clock is wrong. Have the server get a new one"
_NOT_YET = "its time has not come, or this machine's clock is wrong"
_BY_CODE: Mapping[int, str] = {
    2: _OTHER_AUTHORITY,
    7: _OTHER_AUTHORITY,
    9: _NOT_YET,
    10: _OVER,
    18: _OTHER_AUTHORITY,
    19: _OTHER_AUTHORITY,
    20: _OTHER_AUTHORITY,
    21: _OTHER_AUTHORITY,
    62: _OTHER_NAME,
    64: _OTHER_NAME,
}
"""By the codes of X509_verify_cert_error_string(3)."""
_NO_TLS = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG"})


def why_not_connected(error: ssl.SSLError, named: str) -> str:
    """The cause, and what to do; ``named`` is how the server was addressed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        said = _BY_CODE.get(error.verify_code, "ask who runs the server").format(named=named)
        return f"its certificate is not accepted ({error.verify_message}): {said}"
    if error.reason in _NO_TLS:
        return (
            f"it does not speak TLS ({error.reason}): if that is meant to be so, address it as http://{named}"
        )
    return str(error) or type(error).__name__
