"""`tellapart demo`: the idea of the product on one screen."""

from __future__ import annotations

from pathlib import Path

from tellapart.cli.options import Whole

SLIP_RATE = 0.03

INTRODUCTION = (
    "The learner guesses what an animal is, and shows an earlier one as its reason. When it is"
    " wrong, the teacher says what it is, and one thing that tells the two apart. The teacher is"
    " simulated, and slips now and then."
)


def demo(
    *, seed: Whole = 0, picture: Path = Path("tellapart-demo.png"), json: bool = False
) -> None:
    """Teach 101 animals to several learners, and see what they learnt.

    A simulated teacher, who slips now and then, corrects every wrong guess and
    names a feature that tells the animal from the one shown. Prints a few rounds,
    the rules that came out and the mistakes of each learner against its bound,
    and draws the mistakes over time.

    Example:

        tellapart demo --seed 7 --picture zoo.png

    Parameters
    ----------
    seed
        The order of the animals, and where the teacher slips.
    picture
        Where to save the picture of the mistakes (PNG, SVG or PDF; needs the extra 'lab').
    json
        Print everything as one JSON object instead (docs/cli.md has its keys).
    """
    from tellapart import worlds
    from tellapart.cli.trial_report import LEARNERS, Report, run_trials
    from tellapart.export.text import Words
    from tellapart.worlds.zoo import say_feature, say_label

    world = worlds.zoo(seed)
    trials = run_trials(world, LEARNERS, slip_rate=SLIP_RATE, seed=seed)
    platypus = [str(animal) for animal in world.items].index("platypus")
    report = Report(
        title="Teaching 101 animals",
        introduction=INTRODUCTION,
        what="animals",
        words=Words(say_label, say_feature, subject="it"),
        trials=trials,
        also=[platypus],
    )
    report.give(picture, as_json=json)
