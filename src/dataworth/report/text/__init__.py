"""Results as text for a terminal: a sentence first, then the numbers it rests on. One kind of result a file.

What they share is in `layout.py` (how a report looks) and `common.py` (what it says at its end).
"""

from .audit import VERDICT_STYLES, audit_line, audit_report, benchmark_sentence
from .demo import demo_line, demo_report
from .description import description_line, description_report
from .parts import parts_report
from .ranking import ranking_line, ranking_report
from .score import score_line, score_report
from .sensitivity import sensitivity_line, sensitivity_report
from .yardstick import yardstick_line, yardstick_report

__all__ = [
    "VERDICT_STYLES",
    "audit_line",
    "audit_report",
    "benchmark_sentence",
    "demo_line",
    "demo_report",
    "description_line",
    "description_report",
    "parts_report",
    "ranking_line",
    "ranking_report",
    "score_line",
    "score_report",
    "sensitivity_line",
    "sensitivity_report",
    "yardstick_line",
    "yardstick_report",
]
