"""How often the rules agreed with independent labels of real AI outputs: what their confidence is computed from."""

from __future__ import annotations

from pathlib import Path

PATH = Path(__file__).with_name("calibration.json")
