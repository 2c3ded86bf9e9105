"""The sections that ask something: one line each. Reader, schema, command and report follow this table."""

from zwang.files.analyses.analysis import Analysis
from zwang.files.analyses.equilibrium import Rest
from zwang.files.analyses.fit import Measurement
from zwang.files.analyses.kinematics import Positions
from zwang.files.analyses.linear import Linear
from zwang.files.analyses.lyapunov import Divergence
from zwang.files.analyses.periodic import Repetition
from zwang.files.analyses.steady import Steadiness

ANALYSES: dict[str, type[Analysis]] = {
    kind.section.name: kind
    for kind in (
        Rest,
        Steadiness,
        Linear,
        Positions,
        Repetition,
        Divergence,
        Measurement,
    )
}
