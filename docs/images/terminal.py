"""What programs print on a real terminal, and when, as an animated picture.

A program runs in a pseudo-terminal of its own. What it writes is read by a terminal emulator (pyte), and each state of
the screen is drawn (Pillow), with the font that comes with matplotlib: DejaVu Sans Mono.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import ceil
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import pyte
from PIL import Image, ImageColor, ImageDraw, ImageFont

COLUMNS, ROWS = 100, 38
SIZE = 14
MARGIN = 14
TOGETHER = 0.08
"""Seconds within which what is printed is one frame."""
LONGEST = 0.8
"""Seconds that a frame stays when nothing happens, so that nobody waits for a program to load."""
STEPS = 8
BACK, FORE = "#16181d", "#d7dae0"
COLOURS = {"red": "#ff7b72", "green": "#7ee787", "brown": "#e3b341", "cyan": "#79c0ff", "blue": "#79c0ff"}


class Frame(NamedTuple):
    picture: Image.Image
    seconds: float


class Terminal:
    """A screen on which commands are typed, and their programs answer."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.frames: list[Frame] = []
        self._environment = {**environment, "TERM": "xterm-256color"}
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.Stream(self._screen)
        folder = Path(mpl.get_data_path()) / "fonts" / "ttf"
        self._plain, self._bold = (
            ImageFont.truetype(folder / name, SIZE) for name in ("DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf")
        )
        self._cell = (self._plain.getlength("M"), SIZE + 4)

    def run(self, command: Sequence[str], folder: Path, *, hold: float) -> str:
        """Types a command, shows what it really prints, and holds the end. Gives what it printed."""
        self._write("\r\n\x1b[32m$\x1b[0m " if self.frames else "\x1b[32m$\x1b[0m ", 0.5)
        line = " ".join(command)
        for start in range(0, len(line), 3):
            self._write(line[start : start + 3], 0.09)
        self._write("\r\n", 0.3)
        printed = ""
        for text, seconds in _printed(command, folder, self._environment):
            self._write(text, min(seconds, LONGEST))
            printed += text
        self.frames[-1] = self.frames[-1]._replace(seconds=hold)
        return printed

    def save(self, path: Path) -> None:
        """As a GIF with one palette, in which a frame holds only what changed."""
        palette = _palette()
        pictures = [frame.picture.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self.frames]
        milliseconds = [round(frame.seconds * 1000) for frame in self.frames]
        pictures[0].save(
            path, save_all=True, append_images=pictures[1:], duration=milliseconds, loop=0, optimize=False, disposal=1
        )

    def _write(self, text: str, seconds: float) -> None:
        self._stream.feed(text)
        self.frames.append(Frame(self._drawn(), seconds))

    def _drawn(self) -> Image.Image:
        wide, high = self._cell
        picture = Image.new("RGB", (ceil(COLUMNS * wide) + 2 * MARGIN, ROWS * high + 2 * MARGIN), BACK)
        pen = ImageDraw.Draw(picture)
        for row in range(ROWS):
            line = self._screen.buffer[row]
            cells = [(column, line[column]) for column in range(COLUMNS)]
            for (colour, bold), run in groupby(cells, key=lambda cell: (cell[1].fg, cell[1].bold)):
                drawn = list(run)
                text = "".join(cell.data for _, cell in drawn).rstrip()
                place = (MARGIN + drawn[0][0] * wide, MARGIN + row * high)
                pen.text(place, text, COLOURS.get(colour, FORE), font=self._bold if bold else self._plain)
        return picture


def _palette() -> Image.Image:
    """Each colour, in the steps in which the edges of letters fade. One by frequency would lose the rare colours."""
    back = ImageColor.getrgb(BACK)
    shades = [
        round(there + (here - there) * step / STEPS)
        for colour in dict.fromkeys([FORE, *COLOURS.values()])
        for step in range(STEPS + 1)
        for there, here in zip(back, ImageColor.getrgb(colour), strict=True)
    ]
    palette = Image.new("P", (1, 1))
    palette.putpalette(shades)
    return palette


def _printed(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """What a program prints, in pieces, each with the seconds until the next."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with subprocess.Popen(command, cwd=folder, env=environment, stdin=its, stdout=its, stderr=its):
        os.close(its)
        text, since = "", time.monotonic()
        while piece := _read(ours):
            now = time.monotonic()
            if text and now - since > TOGETHER:
                yield text, now - since
                text, since = "", now
            elif not text:
                since = now
            text += piece
        yield text, LONGEST
    os.close(ours)


def _read(terminal: int) -> str:
    select.select([terminal], [], [])
    try:
        return os.read(terminal, 65536).decode()
    except OSError:  # so Linux says that the program has closed it
        return ""
