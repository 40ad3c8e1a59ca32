"""Records when torch.compile compiles, and what it makes of the program.

The source is torch's own logger for ``TORCH_TRACE``, which is silent while nothing is compiled.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from time import time_ns
from typing import Any

from .writer import TraceFile, metadata

_LOGGER = "torch.__trace"
_SPAN = "chromium_event"
_ENTRIES = frozenset(
    "str dynamo_start dynamo_graph_break_reason recompile_reasons dynamo_cpp_guards_str "
    "compilation_metrics aot_forward_graph aot_backward_graph aot_inference_graph "
    "inductor_post_grad_graph inductor_output_code inductor_provenance_tracking_node_mappings "
    "inductor_provenance_tracking_kernel_stack_traces".split()
)
"""The entries that trace readers use; torch logs about twenty times as much."""
_METRICS = ("co_name", "co_filename", "co_firstlineno", "fail_reason", "fail_type")


class CompileLog(logging.Handler):
    """Writes when something was compiled and, with ``texts``, the results.

    With ``texts``, Inductor tracks the operators of each kernel
    (``torch._inductor.config.trace.provenance_tracking_level``), as under
    ``INDUCTOR_PROVENANCE=1``. This changes comments in the generated code, not the code.
    """

    def __init__(
        self, file: TraceFile, texts: bool, begun: Callable[[], None], ended: Callable[[], None]
    ) -> None:
        super().__init__()
        self._begun, self._ended = begun, ended
        """Called in the compiling thread when a compilation begins and ends."""
        self._file = file
        self._texts = texts
        self._pid = os.getpid()
        self._spans = threading.local()
        self._tracked: Any = None
        """Inductor's settings, once they are changed."""

    def start(self) -> None:
        # First in the list: torch's own handler removes itself at the first entry, and logging,
        # which iterates over the same list, would skip the next handler.
        logging.getLogger(_LOGGER).handlers.insert(0, self)

    def stop(self) -> None:
        logging.getLogger(_LOGGER).removeHandler(self)
        if self._tracked is not None:
            self._tracked.provenance_tracking_level = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Never raises, since it runs inside the compiler."""
        if os.getpid() != self._pid:
            return
        try:
            header, text = record.metadata, record.payload  # type: ignore[attr-defined]
            if _SPAN in header:
                self._time(json.loads(text))
            elif self._texts and entry_name(header) in _ENTRIES:
                self._write_entry(header, text)
        except Exception as error:  # noqa: BLE001 -- a version of torch that says it otherwise
            problem = {"message": f"the compiler's log could not be read: {error!r}"}
            self._file.write([metadata("problem", problem, self._pid)])

    # ---------------------------------------------------------------------------- times

    def _time(self, event: dict[str, Any]) -> None:
        """Write the begin or end of a compilation, for the outermost part only."""
        open_ = self._open()
        name = str(event.get("name", ""))
        if event.get("ph") == "B":
            open_.append(name)
            if len(open_) == 1:
                self._begun()
                self._track_provenance()
                number = str((event.get("args") or {}).get("compile_id") or "None")
                self._span("compile_begin", name=name, id="" if number == "None" else number)
        elif event.get("ph") == "E" and name in open_:
            while open_.pop() != name:  # failed parts have no end event
                pass
            if not open_:
                self._span("compile_end")
                self._ended()

    def _open(self) -> list[str]:
        """The open parts of a compilation in this thread, outermost first."""
        if not hasattr(self._spans, "open"):
            self._spans.open = []
        found: list[str] = self._spans.open
        return found

    def _span(self, kind: str, **args: str) -> None:
        thread = threading.get_native_id()
        self._file.write([metadata(kind, {"at_ns": time_ns()} | args, self._pid, thread)])

    # ---------------------------------------------------------------------------- texts

    def _write_entry(self, header: dict[str, Any], text: str | None) -> None:
        metrics = header.get("compilation_metrics")
        if isinstance(metrics, dict):
            header = header | {"compilation_metrics": {key: metrics.get(key) for key in _METRICS}}
        args = {"entry": header, "text": text or ""}
        self._file.write([metadata("compile_log", args, self._pid, threading.get_native_id())])

    def _track_provenance(self) -> None:
        """Have Inductor, if it is in use and supports it, track the operators of each kernel."""
        config = sys.modules.get("torch._inductor.config")
        if not self._texts or config is None:
            return
        settings = getattr(config, "trace", None)
        if getattr(settings, "provenance_tracking_level", None) == 0:
            settings.provenance_tracking_level = 1  # type: ignore[union-attr]
            self._tracked = settings
        debug = sys.modules.get("torch._inductor.debug")
        if self._tracked is not None and getattr(debug, "_pre_grad_graph_id", 0) is None:
            # Origins of backward kernels are only logged with some number here.
            debug._pre_grad_graph_id = -1  # type: ignore[union-attr]


def entry_name(header: dict[str, Any]) -> str:
    """The name of an entry of torch's log: its first key, or the name of the artifact."""
    artifact = header.get("artifact")
    if isinstance(artifact, dict):
        return str(artifact.get("name", ""))
    with suppress(StopIteration):
        return str(next(iter(header)))
    return ""
