"""Whose process is at the other end of a Unix socket."""

import os
import socket
import struct
import sys
from typing import Any

_XUCRED = struct.Struct("=II")  # version and uid, the beginning of what macOS and FreeBSD tell
_UCRED = struct.Struct("=iII")  # pid, uid, gid, as Linux tells


def is_ours(connection: Any) -> bool:
    """Whether it is a process of this user; where no system call tells, the socket's folder has kept others out."""
    try:
        if sys.platform == "linux":
            _, user, _ = _UCRED.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
        elif sys.platform == "darwin" or "bsd" in sys.platform:
            _, user = _XUCRED.unpack(connection.getsockopt(0, 1, 76)[: _XUCRED.size])  # SOL_LOCAL, LOCAL_PEERCRED
        else:
            return True
    except (OSError, struct.error):
        return False
    return bool(user == os.geteuid())
