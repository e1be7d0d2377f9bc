"""While and after teaching: when to stop, and which rounds to look at again."""

from tellapart.review.case import Suspect
from tellapart.review.error_estimate import ErrorEstimate, estimate
from tellapart.review.progress import Progress
from tellapart.review.stoppers import ErrorBelow, NoMistakeIn, Rounds, Stopper, Watch
from tellapart.review.suspected_slips import suspects
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
