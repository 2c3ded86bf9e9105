"""How long a step is: towards a stop, after one that was refused, after one that was accepted.

Native functions, for a run and for a group of lanes.
"""

from typing import Final

from zwang.arrays import EPS
from zwang.compile.restricted import Number, Truth, native
from zwang.engines.native.fast_pow import power
from zwang.engines.native.numbers import choose, larger, smaller, two_sum
from zwang.engines.native.step import TINY

# The next step is SAFETY · error_n^(-INTEGRAL) · error_(n-1)^PROPORTIONAL times the last (Gustafsson's PI control).
# Chosen by the work for equal error on pendulums, orbits and a triple pendulum: a tenth less than with the usual
# 0.9, 0.095 and 0.04, and a third of the rejected steps.
SAFETY: Final = 0.75
INTEGRAL: Final = 0.14
PROPORTIONAL: Final = 0.02
SHRINK: Final = 1 / 3
GROW: Final = 6.0

UP_TO_STOP: Final = 1.01
"""A step that would end so near to a stop, as a share of its size, ends there."""


@native
def too_short(t: Number, remaining: Number, size: Number) -> Truth:
    """Whether a step is so short that time does not change, and not the last."""
    return (abs(remaining) > UP_TO_STOP * size) & (size <= larger(4 * EPS * abs(t), TINY))


@native
def aimed(t: Number, t_low: Number, remaining: Number, step: Number, stop: Number) -> tuple[Number, Number, Number]:
    """A step with its sign, the time at its end, and what that loses to round-off; the last one ends at the stop."""
    last = abs(remaining) <= UP_TO_STOP * abs(step)
    h = choose(last, remaining, step)
    end, low = two_sum(t, t_low + h)
    return h, choose(last, stop, end), choose(last, 0.0, low)


@native
def shrunk(error: Number) -> Number:
    """The share of its size that a step which was refused for its error is tried again with."""
    return larger(SHRINK, SAFETY * power(error, -1 / 8))


@native
def next_size(made: Number, planned: Number, error: Number, before: Number, held: Number) -> Number:
    """The size of the next step: how long the last was, and was planned to be, its error and that of the one before.

    One that was held back (1, else 0) grows no further.
    """
    factor = smaller(GROW, larger(SHRINK, SAFETY * power(error, -INTEGRAL) * power(before, PROPORTIONAL)))
    factor = choose(error > 0.0, factor, GROW)
    factor = choose(held > 0.0, smaller(1.0, factor), factor)
    # A step shortened only to meet the end time says nothing against the size that was planned.
    return larger(factor * made, choose(made < planned, planned, 0.0))
