"""Say what a late hand-in costs: dates, grace, the share that each day takes.

After reading this file you can say what `[due]` and `[late]` in ``course.toml`` mean, and whose
word counts on when work came: the learning platform's before a file's. Read next: ``grades.py``.
"""

from __future__ import annotations

import contextlib
import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

__all__ = ["Due", "dates_of", "in_words", "is_plausible", "time_of"]

DAY = 86_400.0
# Of the years 2000 to 2099, in any time zone: others come from a broken clock, or from a joker.
_PLAUSIBLE = (
    datetime.datetime(2000, 1, 2, tzinfo=datetime.UTC).timestamp(),
    datetime.datetime(2099, 12, 31, tzinfo=datetime.UTC).timestamp(),
)
_RULES = {"grace": 60.0, "closes": DAY, "penalty": 0.01, "most": 0.01}


@dataclass(frozen=True)
class Due:
    """Until when an exercise is handed in, and what comes off after that.

    Attributes
    ----------
    date : float
        Seconds since 1970.
    grace : float
        Seconds after the date that are still in time.
    penalty : float
        Share of the points that each day that has begun takes.
    most : float
        The largest share that is taken.
    closes : float
        Seconds after the date from which on nothing counts.
    """

    date: float
    grace: float = 0.0
    penalty: float = 0.0
    most: float = 1.0
    closes: float = math.inf

    def days_late(self, handed_in: float, is_late: bool | None = None) -> int:
        """Return how many days late work came, each that has begun counted; 0 is in time.

        Parameters
        ----------
        handed_in : float
            Seconds since 1970, or 0 if that is not known.
        is_late : bool, optional
            What the learning platform says. It knows better than a file, whose time may be that
            of a download: what it calls in time is in time.
        """
        late = handed_in - self.date if handed_in else 0.0
        if is_late is False or (is_late is None and late <= self.grace):
            return 0
        return max(math.ceil(late / DAY), 1)

    def share(self, handed_in: float, is_late: bool | None = None) -> float:
        """Return the share of the points that comes off, from 0 to 1."""
        days = self.days_late(handed_in, is_late)
        if days and handed_in - self.date > self.closes:
            return 1.0
        return min(days * self.penalty, self.most)

    @property
    def ends(self) -> float:
        """Return from when on nothing counts, or, if that is never, when it is late."""
        return self.date + (self.grace if math.isinf(self.closes) else self.closes)

    def put_off(self, date: float | None) -> Due:
        """Return the same rules with a learner's own date, if there is one."""
        return self if date is None else replace(self, date=date)


def dates_of(facts: Mapping[str, object], names: Mapping[str, str]) -> dict[str, Due]:
    """Read `[due]` and `[late]` of ``course.toml``.

    Parameters
    ----------
    facts : mapping
        The whole file.
    names : mapping of str to str
        What an exercise may be called by -> its folder's name.

    Returns
    -------
    dict - an exercise's folder name -> Due, for those that have a date.

    Raises
    ------
    ValueError
        For what cannot be read as that; says what to write.
    """
    dates, rules = facts.get("due", {}), facts.get("late", {})
    if not isinstance(dates, dict) or not isinstance(rules, dict):
        raise ValueError("[due] and [late] are tables.")
    general = _rules("[late]", rules)
    due = {}
    for key, value in dates.items():
        if key not in names:
            raise ValueError(f"[due] names {key!r}, which is no exercise of this course.")
        where = f"[due] {key}"
        own = value if isinstance(value, dict) else {"date": value}
        if "date" not in own:
            raise ValueError(f"{where} has no date. Write: date = 2026-11-30T23:59:00")
        own_rules = _rules(where, {name: rule for name, rule in own.items() if name != "date"})
        due[names[key]] = Due(time_of(own["date"], where), **{**general, **own_rules})
    return due


def _rules(where: str, rules: Mapping[str, object]) -> dict[str, float]:
    numbers = {}
    for name, value in rules.items():
        if name not in _RULES:
            raise ValueError(f"{where}: {name!r} is none of {', '.join(_RULES)}.")
        most = 100 if name in ("penalty", "most") else math.inf
        number = math.nan
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            number = float(value)
        if not 0 <= number <= most or math.isinf(number):
            unit = {"grace": "minutes", "closes": "days"}.get(name, "percent, 0 to 100")
            raise ValueError(f"{where}: {name} = {value!r} is no number of {unit}.")
        numbers[name] = number * _RULES[name]
    return numbers


def time_of(value: object, where: str = "the date") -> float:
    """Return a date as seconds since 1970; a day alone lasts until its end.

    Parameters
    ----------
    value : datetime, date or str
        Without a time zone it is that of this machine.
    where : str
        For the error.

    Raises
    ------
    ValueError
        If it is no date.
    """
    if isinstance(value, str):
        try:
            is_day = len(value.strip()) <= len("2026-11-30")
            read = datetime.date if is_day else datetime.datetime
            value = read.fromisoformat(value.strip())
        except ValueError:
            pass
    seconds = math.nan
    with contextlib.suppress(ValueError, OverflowError, OSError):  # a year that no clock shows
        if isinstance(value, datetime.datetime):
            seconds = value.timestamp()
        elif isinstance(value, datetime.date):
            midnight = datetime.datetime.combine(value, datetime.time())
            seconds = (midnight + datetime.timedelta(days=1)).timestamp()
    if is_plausible(seconds):
        return seconds
    if isinstance(value, datetime.date):
        raise ValueError(f"{where}: {value} is not in the years 2000 to 2099.")
    raise ValueError(f"{where}: {value!r} is no date. Write it like 2026-11-30T23:59:00")


def is_plausible(seconds: float) -> bool:
    """Tell whether work can have been handed in, or be due, at a time: in the years 2000 to 2099.

    Parameters
    ----------
    seconds : float
        Since 1970; whatever stood in a file.
    """
    return _PLAUSIBLE[0] <= seconds < _PLAUSIBLE[1]


def in_words(seconds: float) -> str:
    """Return a time for people, in the time zone of this machine; "" where it is not known."""
    if not is_plausible(seconds):  # also in results of earlier versions
        return ""
    return datetime.datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
