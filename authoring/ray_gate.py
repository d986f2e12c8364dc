"""Run the gate on the nodes of a Ray cluster: what a node holds, and what it is made from."""

from dataclasses import dataclass

from authoring.gate import GateResult, gate
from sandbox.nodes import SandboxNode
from schema import Scenario


@dataclass(frozen=True)
class GateNodePlan:
    """What a GateNode is made from; it is pickled, and called on the node."""

    image: str
    image_digest: str
    timeout_seconds: float

    def __call__(self) -> "GateNode":
        """The node's hold. Raises BadInputError where the node's image differs."""
        return GateNode(self)


class GateNode(SandboxNode):
    """A node that gates scenarios on its own engine."""

    def __init__(self, plan: GateNodePlan) -> None:
        super().__init__(plan.image, plan.image_digest)
        self.timeout_seconds = plan.timeout_seconds

    def gate(self, scenario: Scenario) -> GateResult:
        """The gate's verdict. Raises SandboxError."""
        return gate(scenario, timeout_seconds=self.timeout_seconds, cancelled=self.cancelled.is_set, image=self.image)
