"""heyoka's own cache of machine code on disk, used only where nobody else can have written.

heyoka keeps what it compiled in a file, and runs what it finds there, whoever wrote it. So its folder is held to what
zwang asks of its own (`kept`), before anything is compiled; otherwise the cache stays off in this process.
"""

from functools import cache
from pathlib import Path
from typing import Any

from zwang.compile.restricted import kept

VARIABLE = "HEYOKA_CACHE_DIR"


@cache
def guard(heyoka: Any) -> None:
    """Switch heyoka's cache on disk off if its folder is not this user's alone; a missing one is made so."""
    state = heyoka.llvm_state
    if not hasattr(state, "get_diskcache_path") or not state.get_diskcache_enabled():
        return
    place = Path(state.get_diskcache_path())
    try:
        kept.require_private(place)
    except OSError as error:
        state.set_diskcache_enabled(False)
        kept.say(place, str(error), VARIABLE)
