"""The order of least degree in machine code, on the graph of a sparse symmetric matrix that is being eliminated.

What is eliminated becomes an *element*: its neighbours are neighbours of each other from then on, which is noted once
and not for each pair (George and Liu, "The evolution of the minimum degree ordering algorithm", 1989). So memory is
that of L.
"""

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zwang.compile.restricted import Record, native, native_library
from zwang.compile.restricted.memory import at

Numbers = NDArray[np.int64]

TABLES: Final = (
    "begins",  #   (nodes + 1) of the neighbours of each node
    "beside",  #   neighbours, by number, or elements: number e as −1 − e
    "users",  #    neighbours as they were at first
    "lengths",  #  (nodes) how many neighbours and elements are left
    "waiting",  #  (nodes) for how many others a node has to wait
    "heap",  #     (nodes) degree · nodes + node of those that need not wait
    "done",  #     (nodes) 1 for what is eliminated
    "marks",  #    (nodes) in which turn a node was met last
    "absorbed",  # (nodes) 1 for an element that is part of another
    "order",  #    (nodes) the nodes as they are eliminated
    "columns",  #  (nodes + 1) where the rows below each of them begin
    "below",  #    these rows
)
SIZES: Final = ("nodes", "n", "offset", "queued", "turn", "room")
"""Of them n need not wait; offset is added to the degree of the others; room is for how many rows."""
GRAPH: Final = np.dtype([(name, "i8") for name in (*SIZES, *TABLES)])

_ONE_AT_A_TIME: Final = Lock()


class Graph(Record):
    """A graph that is being eliminated: sizes, and tables by address, whose numbers are whole."""

    layout = GRAPH


@native
def eliminate(graph: Graph) -> int:
    """Eliminate all nodes; how many were, before there was no more room."""
    done, order, columns = at(graph.done), at(graph.order), at(graph.columns)
    waiting, begins, users = at(graph.waiting), at(graph.begins), at(graph.users)
    count = 0
    while graph.queued > 0:
        key = pop(graph)
        k = key - int(key / graph.nodes) * graph.nodes
        place = int(columns[count])
        if place + graph.nodes > graph.room:
            return count
        found = neighbours_of(graph, k, place)
        now = key_of(graph, k, found)
        if now != key:  # its neighbourhood has changed since
            push(graph, now)
            continue
        done[k] = 1
        order[count] = k
        columns[count + 1] = place + found
        absorb(graph, k, count)
        count += 1
        if k < graph.n:
            for e in range(int(begins[k]), int(begins[k + 1])):
                c = int(users[e])
                if c >= graph.n:
                    waiting[c] = int(waiting[c]) - 1
                    if int(waiting[c]) == 0:
                        push(graph, key_of(graph, c, neighbours_of(graph, c, int(columns[count]))))
    return count


@native
def key_of(graph: Graph, k: int, degree: int) -> int:
    """Degree and number of a node as one number, by which it is queued."""
    later = graph.offset if k >= graph.n else 0
    return (degree + later) * graph.nodes + k  # type: ignore[no-any-return]  # fields are whole numbers


@native
def neighbours_of(graph: Graph, k: int, place: int) -> int:
    """Write down the neighbours of a node from a place on, marked by a new turn; how many there are."""
    begins, lengths, beside = at(graph.begins), at(graph.lengths), at(graph.beside)
    columns, below, marks = at(graph.columns), at(graph.below), at(graph.marks)
    graph.turn = graph.turn + 1
    marks[k] = graph.turn
    found = 0
    for e in range(int(begins[k]), int(begins[k]) + int(lengths[k])):
        other = int(beside[e])
        if other >= 0:
            found += note(graph, other, place + found)
        else:
            for r in range(int(columns[-1 - other]), int(columns[-other])):
                found += note(graph, int(below[r]), place + found)
    return found


@native
def note(graph: Graph, k: int, place: int) -> int:
    """Write down a node that is not eliminated and not met before in this turn; 1 if it was."""
    marks, done, below = at(graph.marks), at(graph.done), at(graph.below)
    if int(done[k]) == 1 or int(marks[k]) == graph.turn:
        return 0
    marks[k] = graph.turn
    below[place] = k
    return 1


@native
def absorb(graph: Graph, k: int, number: int) -> None:
    """Node k becomes an element: what its neighbours, which are marked, knew of each other is known by it."""
    begins, lengths, beside = at(graph.begins), at(graph.lengths), at(graph.beside)
    columns, below, marks = at(graph.columns), at(graph.below), at(graph.marks)
    absorbed = at(graph.absorbed)
    for e in range(int(begins[k]), int(begins[k]) + int(lengths[k])):
        if int(beside[e]) < 0:
            absorbed[-1 - int(beside[e])] = 1
    for r in range(int(columns[number]), int(columns[number + 1])):
        i = int(below[r])
        kept = int(begins[i])
        for e in range(int(begins[i]), int(begins[i]) + int(lengths[i])):
            other = int(beside[e])
            stays = int(marks[other]) != graph.turn if other >= 0 else int(absorbed[-1 - other]) == 0
            if stays:
                beside[kept] = other
                kept += 1
        beside[kept] = -1 - number
        lengths[i] = kept + 1 - int(begins[i])


@native
def push(graph: Graph, key: int) -> None:
    """Queue a key."""
    heap, i = at(graph.heap), graph.queued
    graph.queued = i + 1
    while i > 0:
        above = int((i - 1) / 2)
        if int(heap[above]) <= key:
            break
        heap[i] = int(heap[above])
        i = above
    heap[i] = key


@native
def pop(graph: Graph) -> int:
    """Take the least key off the queue."""
    heap, i, last = at(graph.heap), 0, graph.queued - 1
    graph.queued = last
    least, key = int(heap[0]), int(heap[last])
    while 2 * i + 1 < last:
        child = 2 * i + 1
        if child + 1 < last and int(heap[child + 1]) < int(heap[child]):
            child += 1
        if int(heap[child]) >= key:
            break
        heap[i] = int(heap[child])
        i = child
    heap[i] = key
    return least


def least_degree(n: int, count: int, i: Numbers, j: Numbers, late: bool) -> tuple[Numbers, Numbers, Numbers]:
    """The order of n coordinates and `count` constraints with entries between nodes i and j: least degree first.

    A constraint comes after all coordinates of its row; with `late`, after all coordinates. Behind the order are the
    rows below each pivot: where they begin, and they themselves.
    """
    nodes = n + count
    apart = i != j
    pairs = np.concatenate([i[apart] * nodes + j[apart], j[apart] * nodes + i[apart]])
    node, beside = np.divmod(np.unique(pairs), max(nodes, 1))
    begins = np.searchsorted(node, np.arange(nodes + 1))
    degree = np.diff(begins)
    free = np.concatenate([np.arange(n), n + np.flatnonzero(degree[n:] == 0)])
    offset = n if late else 0
    room = 4 * (len(beside) + nodes)
    while True:
        heap = np.sort((degree[free] + np.where(free >= n, offset, 0)) * nodes + free)
        tables = {
            "begins": begins,
            "beside": beside,
            "users": beside,
            "lengths": degree,
            "waiting": degree,  # a row has coordinates only
            "heap": np.concatenate([heap, np.zeros(nodes - len(heap), dtype=np.int64)]),
            **{name: np.zeros(nodes + 1, dtype=np.int64) for name in ("done", "marks", "absorbed", "order", "columns")},
            "below": np.zeros(room + nodes, dtype=np.int64),
        }
        tables = {name: np.array(table, dtype=float) for name, table in tables.items()}
        graph = np.zeros(1, GRAPH)
        graph["nodes"], graph["n"], graph["offset"], graph["queued"] = nodes, n, offset, len(heap)
        graph["room"] = room + nodes
        for name, table in tables.items():
            graph[name] = table.ctypes.data
        with _ONE_AT_A_TIME:
            eliminated = _native()
        if eliminated(graph.ctypes.data) == nodes:
            columns = tables["columns"][: nodes + 1]
            found = tables["order"][:nodes], columns, tables["below"][: int(columns[-1])]
            return found[0].astype(np.int64), found[1].astype(np.int64), found[2].astype(np.int64)
        room *= 4


@cache
def _native() -> Callable[..., Any]:
    return native_library(eliminate)
