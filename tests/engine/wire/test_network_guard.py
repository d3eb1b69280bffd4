"""No network while a replay runs."""

import pytest

from salvo.engine.wire.network_guard import offline
from salvo.errors import TapeMissError


def test_offline_ends_where_it_was_meant_to_end() -> None:
    import socket

    with offline(), pytest.raises(TapeMissError, match="tried to use the network"):
        socket.create_connection(("127.0.0.1", 9))
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", 9))
