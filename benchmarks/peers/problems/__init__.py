"""The problems, one a file; `ALL` in the order of the table."""

from benchmarks.peers.problem import Problem
from benchmarks.peers.problems import (
    andrews,
    appell,
    chain,
    ensemble,
    fekete,
    four_bar,
    four_bar_singular,
    joint_tree,
    net,
    rolling_disc,
    spatial_chain,
    spatial_loop,
    stewart,
    triple_pendulum,
)

ALL: dict[str, Problem] = {
    p.name: p
    for p in (
        triple_pendulum.PROBLEM,
        andrews.PROBLEM,
        four_bar.PROBLEM,
        four_bar_singular.PROBLEM,
        *chain.PROBLEMS,
        ensemble.PROBLEM,
        spatial_loop.PROBLEM,
        rolling_disc.PROBLEM,
        appell.PROBLEM,
        stewart.PROBLEM,
        *joint_tree.PROBLEMS,
        *spatial_chain.PROBLEMS,
        *net.PROBLEMS,
        *fekete.PROBLEMS,
    )
}
