"""Network traces: readers of the usual formats, one normal form, and generators.

Examples
--------
>>> from nl2net.curriculum.traces import generate
>>> trace = generate("broadband", seed=1, count=1)[0]
>>> trace.duration_s
320.0
"""

from nl2net.curriculum.traces.generators import GENERATORS, generate
from nl2net.curriculum.traces.normal import Trace
from nl2net.curriculum.traces.reading import FORMATS, load_folder, load_trace, load_traces

__all__ = ["FORMATS", "GENERATORS", "Trace", "generate", "load_folder", "load_trace", "load_traces"]
