"""While and after teaching: when to stop, and which rounds to look at again."""

from tellapart.review.case import Suspect
from tellapart.review.history import History, Listening, Told
from tellapart.review.interval import ErrorEstimate, estimate
from tellapart.review.progress import Progress
from tellapart.review.slips import suspects
from tellapart.review.stopping import ErrorBelow, NoMistakeIn, Rounds, Stopper, Watch

__all__ = [
    "ErrorBelow",
    "ErrorEstimate",
    "History",
    "Listening",
    "NoMistakeIn",
    "Progress",
    "Rounds",
    "Stopper",
    "Suspect",
    "Told",
    "Watch",
    "estimate",
    "suspects",
]
