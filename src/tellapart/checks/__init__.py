"""What every learner must pass; run it on your own with `check_learner`.

from tellapart.checks import check_learner
check_learner(lambda: MyLearner(m=7))
"""

from tellapart.checks.learner import CHECKS, check_learner

__all__ = ["CHECKS", "check_learner"]
