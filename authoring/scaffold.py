"""Read the scaffold: the instructions that an endpoint gets before the orientation, and that no record holds.

    EndpointOperator("qwen2.5:32b", scaffold=SCAFFOLD)

The gate refuses a scenario that repeats six words in a row of it (text_gate.check_scaffold).
"""

from pathlib import Path

SCAFFOLD = (Path(__file__).parent / "scaffold.txt").read_text().removesuffix("\n")
