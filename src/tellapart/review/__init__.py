"""While and after teaching: when to stop, and which rounds to look at again."""

from tellapart.review.error_bound import ClauseRecords
from tellapart.review.progress import ErrorEstimate, Listening, Progress, Told, Transcript, estimate
from tellapart.review.stoppers import ErrorBelow, NoMistakeIn, Rounds, Stopper, Watch
from tellapart.review.suspected_slips import Suspect, suspects

__all__ = [
    "ClauseRecords",
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
