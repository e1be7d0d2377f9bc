"""Whether what a learner says of itself to `simulate` is still true of a learner made from it."""

from __future__ import annotations

from functools import cache


def stands(learner: object, claim: str, methods: tuple[str, ...]) -> bool:
    """Whether nobody changed one of `methods` without saying anew what `claim` says of them.

    `claim` is the name of a method or attribute, too. Who overrides a method must override the
    claim in the same class or later, or it is not believed.

    >>> class Polite:
    ...     loud = False
    ...     def greet(self): ...
    >>> class Rude(Polite):
    ...     def greet(self): ...
    >>> class Honest(Rude):
    ...     loud = True
    >>> [stands(person, "loud", ("greet",)) for person in (Polite(), Rude(), Honest())]
    [True, False, True]
    """
    kind: type = type(learner)
    return vars(learner).keys().isdisjoint(methods) and _stands(kind, claim, methods)


@cache
def _stands(kind: type, claim: str, methods: tuple[str, ...]) -> bool:
    speaker = _giver(kind, claim)
    return all(issubclass(speaker, _giver(kind, name)) for name in methods)


def _giver(kind: type, name: str) -> type:
    """The class whose method this is; `object`, if there is none such."""
    return next((one for one in kind.__mro__ if name in vars(one)), object)
