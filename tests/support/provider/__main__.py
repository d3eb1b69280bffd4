"""The provider as a process of its own: `python -m tests.support.provider --latency 0.2 --four-call`.

Prints its URL on the first line, and serves until its stdin closes or it gets SIGTERM: nobody needs to clean up
after it, because a parent that dies closes the pipe.
"""

import argparse
import gc
import signal
import sys

from tests.support.provider import FOUR_CALL, LoopbackProvider, Say, always


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.support.provider", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--four-call", action="store_true", help="three tool turns, then a final JSON text")
    parser.add_argument("--say", default="Hello from loopback.", help="what every answer says")
    options = parser.parse_args()
    script = FOUR_CALL if options.four_call else always(Say(options.say))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    # Its requests are kept, and it lives for a moment: a look for garbage would be a wait that no provider has.
    gc.disable()
    with LoopbackProvider(script, latency=options.latency, port=options.port) as provider:
        sys.stdout.write(f"{provider.url}\n")
        sys.stdout.flush()
        sys.stdin.buffer.read()


main()
