"""A process that does nothing but fork: its children die, and it says of what.

Who holds a connection to a database must not fork; the zygote is made before there is one. A
child costs a fork, not a new Python.
"""

import gc
import os
import pickle
import signal
import socket
import struct
import traceback
from collections.abc import Callable
from typing import Any

_SIZE = struct.Struct("!I")
_ANSWER = struct.Struct("!ii")
_REAP = b"."


class Zygote:
    """Runs functions in children of its own, one at a time."""

    def __init__(self, warm_up: Callable[[], None] = lambda: None) -> None:
        """``warm_up`` is done once, so that the children need not begin with everything cold."""
        self._socket, theirs = socket.socketpair()
        self._process = os.fork()
        if not self._process:
            self._socket.close()
            warm_up()
            gc.collect()
            gc.freeze()
            _serve(theirs)
        theirs.close()

    def start(self, work: Callable[..., None], *arguments: Any) -> int:
        """Begin ``work`` in a new child; its process id."""
        task = pickle.dumps((work, arguments))
        self._socket.sendall(_SIZE.pack(len(task)) + task)
        child, _ = _ANSWER.unpack(_exactly(self._socket, _ANSWER.size))
        return int(child)

    def wait(self) -> int:
        """The exit code of the child, or minus the signal that killed it.

        Until this is asked its process id stays its own, so that it can be killed at any time.
        """
        self._socket.sendall(_REAP)
        _, status = _ANSWER.unpack(_exactly(self._socket, _ANSWER.size))
        return os.waitstatus_to_exitcode(status)

    def run(self, work: Callable[..., None], *arguments: Any) -> int:
        """Start, and wait for the end."""
        self.start(work, *arguments)
        return self.wait()

    def close(self) -> None:
        """The zygote ends with the connection to it."""
        self._socket.close()
        os.waitpid(self._process, 0)


def _serve(asked: socket.socket) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while head := asked.recv(_SIZE.size):
            work, arguments = pickle.loads(_exactly(asked, _SIZE.unpack(head)[0]))
            child = os.fork()
            if not child:
                _perform(work, arguments)
            asked.sendall(_ANSWER.pack(child, 0))
            _exactly(asked, len(_REAP))
            _, status = os.waitpid(child, 0)
            asked.sendall(_ANSWER.pack(child, status))
    finally:
        os._exit(0)


def _perform(work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    try:
        work(*arguments)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _exactly(source: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = source.recv(size - len(data))
        if not more:
            raise EOFError("the zygote is gone")
        data += more
    return data
