"""What steps in machine code work in: sizes, kernels, tables and arrays, all in one record.

Coordinates that masses or equalities connect are a *block*; blocks answer impulses each for itself. A *row* is a
constraint or a slip; rows of contacts that act in a step are laid out one after the other, each contact's normal first.
"""

from enum import IntEnum
from typing import Any, Final

import numpy as np

from zwang.compile.restricted import Record, intrinsic
from zwang.compile.rolled.panels import Index

SHORT: Final = 7
"""Numbers kept of every step: power, work, deepest penetration, of which contact, what is left of laws, sweeps, and
whether restitutions contradicted each other."""

LEVELS: Final = 3
ALL: Final = 0  # levels of equalities, …
POSITIONS: Final = 1  # … those of positions
VELOCITIES: Final = 2  # … and of velocities, too

DENSE_ROWS: Final = 96
"""So many rows at most are looked at as a dense matrix."""

PROFILE_ROOM: Final = 2_000_000
"""Numbers of the profile of how more rows act on each other."""


class Outcome(IntEnum):
    """Why steps came back. The state is always that after the last step."""

    RUNNING = 0  #   as many steps are made as were asked for
    FINISHED = 1  #  the end is reached
    EVENT = 2  #     an event has changed its sign in the last step
    NO_ROOM = 3  #      the table of steps that are kept in full is full: take its rows out, call again
    SINGULAR = 4  #     masses and equalities determine no velocities in the next step
    NOT_FINITE = 5  #   a velocity is not finite after the next step


ANSWER: Final = np.dtype(
    [
        ("first", "i8"),  #    (blocks + 1) where the equalities of each block begin among …
        ("rows", "i8"),  #     … the rows of all
        ("at_E", "i8"),  #     (blocks) where matrices of a block begin
        ("at_S", "i8"),
        ("M", "i8"),  #        masses, blocks one after the other, as they were when the rest was made of them
        ("E", "i8"),  #        equalities
        ("K", "i8"),  #        Δv = K p + G d,  Λ = S d − Gᵀp
        ("G", "i8"),
        ("S", "i8"),
        ("rank", "i8"),  #     of all equalities
        ("ranks", "i8"),  #    (blocks)
        ("factors", "i8"),  #  (blocks) `FACTORS` of large ones
        ("known", "i8"),  #    1: all of it has been made
    ]
)

FACTORS: Final = np.dtype(
    [
        ("n", "i8"),
        ("m", "i8"),
        ("count", "i8"),  #      supernodes, see `compile.rolled.panels`; 0 for a block with full matrices
        ("size", "i8"),  #       numbers in all panels
        ("masses", "i8"),  #     entries of M in this block
        ("least", "f8"),  #      of its entry: the least pivot of a mass
        ("nodes", "i8"),
        ("below", "i8"),
        ("relative", "i8"),
        ("position", "i8"),  #   (n + m) the place of coordinates and rows in the order of elimination
        ("diagonal", "i8"),  #   (n + m) where their diagonal entries are in the panels
        ("mass_place", "i8"),  # (masses) where entries of M are there, −1 above the diagonal
        ("mass_own", "i8"),  #   (n) which of these are on the diagonal, −1 for none
        ("row_first", "i8"),  #  (m + 1) where entries of rows begin, of each its coordinate, and its place
        ("row_local", "i8"),
        ("row_place", "i8"),
        ("pair_first", "i8"),  # (m + 1) pairs of entries of rows that lift M, and where their products are added
        ("pair_left", "i8"),
        ("pair_right", "i8"),
        ("pair_place", "i8"),
        ("panels", "i8"),
        ("pivots", "i8"),  #     (n + m)
        ("scratch", "i8"),
        ("x", "i8"),  #          (n + m)
        ("own", "i8"),  #        (n) diagonal entries of the masses
        ("weight", "i8"),  #     (m) of rows that lift
        ("gives", "i8"),  #      (m) own mobilities of rows
    ]
)

WALK: Final = np.dtype(
    [
        # Sizes.
        ("n", "i8"),
        ("rows", "i8"),  #        constraints and slips
        ("contacts", "i8"),
        ("blocks", "i8"),
        ("masses", "i8"),  #      entries of M
        ("events", "i8"),
        ("hastens", "i8"),  #     1: forces depend on velocities
        # Kernels by address, 0 for none, and where in what they give out things begin.
        ("kernel", "i8"),
        ("ledger", "i8"),
        ("event", "i8"),
        ("out_M", "i8"),
        ("out_Q", "i8"),
        ("out_A", "i8"),
        ("out_b", "i8"),
        ("out_C", "i8"),
        ("out_sums", "i8"),
        ("out_power", "i8"),
        # Tables of integers.
        ("mass_at", "i8"),  #     (masses) the place of each entry of M among those of the blocks, and its block
        ("mass_block", "i8"),
        ("row_first", "i8"),  #   (rows + 1) where entries of rows begin; …
        ("row_column", "i8"),  #  … of each its coordinate and its place in A
        ("row_entry", "i8"),
        ("sum_first", "i8"),  #   (rows + 1) the same of sizes of sums in a row
        ("sum_entry", "i8"),
        ("touch_first", "i8"),  # (rows + 1) the blocks that rows touch
        ("touch", "i8"),
        ("order", "i8"),  #       (rows)
        ("reading", "i8"),  #     (rows) places of what rows read, in position, in velocity, and of its size; or −1
        ("rate", "i8"),
        ("size", "i8"),
        ("contact", "i8"),  #     (contacts) their rows
        ("slip_first", "i8"),  #  (contacts + 1)
        ("slip", "i8"),
        ("block", "i8"),  #       (n) of a coordinate, and its place in it
        ("local", "i8"),
        ("block_first", "i8"),  # (blocks + 1) coordinates of blocks
        ("block_coordinate", "i8"),
        ("at_M", "i8"),  #        (blocks)
        ("level", "i8"),  #       (LEVELS) `Answer` to use for each level
        ("answers", "i8"),
        # Numbers of contacts.
        ("always", "i8"),  #      (contacts) 1: a limit of a velocity
        ("restitution", "i8"),
        ("holding", "i8"),  #     friction of sticking and of sliding
        ("rubbing", "i8"),
        # The state, and what is remembered with it.
        ("t", "f8"),
        ("q", "i8"),
        ("v", "i8"),
        ("rates", "i8"),  #       (rows) γ
        ("last", "i8"),  #        (rows) impulses
        ("stuck", "i8"),  #       (contacts)
        ("readings", "i8"),  #    (events)
        # Within a step.
        ("given", "i8"),  #       what kernels read
        ("out", "i8"),
        ("later", "i8"),  #       the same with velocities of the mean
        ("room", "i8"),
        ("middle", "i8"),  #      (n) q_m
        ("free", "i8"),  #        (n) change of velocities without contacts
        ("lambda_free", "i8"),  # (rows)
        ("first_free", "i8"),  #  (n) the same at first
        ("change", "i8"),  #      (n)
        ("w", "i8"),  #           (n) what impulses of contacts change
        ("force", "i8"),  #       (n)
        ("mean", "i8"),  #        (n)
        ("end_q", "i8"),
        ("end_v", "i8"),
        ("after", "i8"),  #       (n) v' before it is moved onto equalities
        ("moved", "i8"),
        ("jump", "i8"),
        ("impulse", "i8"),
        ("multipliers", "i8"),  # (rows)
        ("guess", "i8"),  #       (rows) impulses to begin with
        ("asked", "i8"),  #       (rows)
        ("end_rates", "i8"),  #   (rows)
        ("gap", "i8"),  #         (contacts) …
        ("least", "i8"),
        ("bounces", "i8"),  #     the same, before less is asked of them
        ("before", "i8"),
        ("speed_after", "i8"),
        ("sticks", "i8"),
        ("depth", "i8"),
        ("slot", "i8"),  #        … 1: among those that act
        ("closed", "i8"),
        # Contacts that act, laid out.
        ("acting", "i8"),  #      how many
        ("who", "i8"),  #         integers: which
        ("begin", "i8"),  #       integers: where their rows begin
        ("which", "i8"),  #       integers: what rows these are
        ("value_first", "i8"),  # integers: where entries of each begin, …
        ("column", "i8"),  #      integers
        ("value", "i8"),
        ("answer_first", "i8"),  # integers: … and of what its unit impulse changes
        ("answer_column", "i8"),  # integers
        ("answer", "i8"),
        ("own", "i8"),  #         (acting, 9) mobilities of each contact
        ("c", "i8"),  #           speeds without impulses
        ("x", "i8"),
        ("u", "i8"),
        ("best", "i8"),  #        (rows) a way that impulses go
        ("good", "i8"),  #        (rows) the best so far
        ("aim", "i8"),  #         (rows) friction for each impulse of its contact, where it slides
        ("face", "i8"),  #        (rows) 1: a row whose speed shall vanish
        ("missing", "i8"),  #     (rows) what it lacks of that
        ("direction", "i8"),  #   (rows)
        ("pushed_by", "i8"),  #   (n) what impulses along the direction change
        ("state", "i8"),  #       (acting) who opens, sticks and slides, in a guess
        ("mu", "i8"),
        ("settled", "i8"),  #     1: friction of sliding for the rest of the step
        ("dense", "i8"),  #       (DENSE_ROWS, DENSE_ROWS + 1)
        ("mobilities", "i8"),  #  (DENSE_ROWS, DENSE_ROWS)
        ("places", "i8"),  #      integers: (rows) rows that are solved for
        ("owner", "i8"),  #       integers: the contact of each row
        ("scratch", "i8"),
        # Many contacts that act, in a profile; all but the last four are integers.
        ("large", "i8"),  #       1: it is used
        ("meet_first", "i8"),  #  (blocks + 1) contacts that meet in a block
        ("meet", "i8"),
        ("seen", "i8"),  #        (blocks)
        ("sequence", "i8"),  #    (acting) contacts in their order, and their places in it
        ("position", "i8"),
        ("reach", "i8"),  #       (acting) the first place that acts on one, by places
        ("table_first", "i8"),  # (acting) where mobilities begin in the table, nine for a pair
        ("base", "i8"),  #        (acting + 1) the first unknown of each place
        ("low", "i8"),  #         (rows) the first unknown in the line of each
        ("profile_first", "i8"),  # (rows) where lines of the factors begin
        ("table", "i8"),  #       (PROFILE_ROOM)
        ("lower", "i8"),
        ("upper", "i8"),
        ("firm", "f8"),  #        the least pivot, as a share of its entry
        ("vain", "i8"),  #        for how many times pivots are not tried
        ("largest", "f8"),  #     the largest speed
        ("left", "f8"),
        ("sweeps", "i8"),
        ("easy", "i8"),  #        1: no more is asked of contacts than that they land
        ("dulled", "i8"),  #      1: so in the step that was made
        ("struck", "i8"),
        ("least_rows", "i8"),  #  rank of what acts, and whether it is unique
        ("unique", "i8"),
        # The way.
        ("number", "i8"),  #      of the next step
        ("count", "i8"),
        ("began", "f8"),
        ("until", "f8"),
        ("noted", "i8"),  #       rows of `short` that are filled
        ("short", "i8"),
        ("wanted", "i8"),  #      (count) 1: a step that is kept in full
        ("kept", "i8"),  #        how many are
        ("room_for", "i8"),
        ("length", "i8"),
        ("full", "i8"),
    ]
)  # fmt: skip


class AnswerRecord(Record):
    """A record of `ANSWER` as native functions see it."""

    layout = ANSWER


class FactorsRecord(Record):
    """A record of `FACTORS` as native functions see it."""

    layout = FACTORS


class WalkRecord(Record):
    """A record of `WALK` as native functions see it."""

    layout = WALK


@intrinsic
def integers(builder: Any, address: Any) -> Index:
    """The table of integers at an address."""
    kind = builder.module.context.get_identified_type(Index.__name__).as_pointer()
    found: Index = builder.inttoptr(address, kind)
    return found


@intrinsic
def answers_at(builder: Any, address: Any) -> AnswerRecord:
    """The answers at an address."""
    kind = builder.module.context.get_identified_type(AnswerRecord.__name__).as_pointer()
    found: AnswerRecord = builder.inttoptr(address, kind)
    return found


@intrinsic
def factors_at(builder: Any, address: Any) -> FactorsRecord:
    """The factors at an address."""
    kind = builder.module.context.get_identified_type(FactorsRecord.__name__).as_pointer()
    found: FactorsRecord = builder.inttoptr(address, kind)
    return found
