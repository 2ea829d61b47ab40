"""Whether this is the gate, which also runs the proofs that take minutes."""

import os

IN_THE_GATE = os.environ.get("ADK_REQUIRE_GATE") == "1"
