"""While and after teaching: when to stop, and which rounds to look at again."""

from tellapart.review.error_estimate import ErrorEstimate, Progress, estimate
from tellapart.review.stoppers import ErrorBelow, NoMistakeIn, Rounds, Stopper, Watch
from tellapart.review.suspected_slips import Suspect, suspects
from tellapart.review.transcript import Listening, Told, Transcript

__all__ = [
    "ErrorBelow",
    "ErrorEstimate",
    "Listening",
    "NoMistakeIn",
    "Progress",
    "Rounds",
    "Stopper",
    "Suspect",
    "Told",
    "Transcript",
    "Watch",
    "estimate",
    "suspects",
]
