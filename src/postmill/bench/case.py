"""What a case is: a name, what it measures, its options, and the function that does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from postmill.domain.errors import PostmillError
from postmill.domain.suggest import did_you_mean

if TYPE_CHECKING:
    from postmill.bench.place import Place

Figures = dict[str, Any]


class BenchError(PostmillError):
    """A case that cannot be run as asked, or that went wrong: its figures would mean nothing."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a case. `choices` empty: any value of the type that is not below `least`."""

    name: str
    type: type[int] | type[str]
    default: int | str
    help: str
    choices: tuple[str, ...] = ()
    least: int = 1

    def read(self, value: object) -> int | str:
        """`value` as this option's type; BenchError says what it may be."""
        if self.choices:
            if value not in self.choices:
                raise BenchError(f"{self.name} is one of {', '.join(self.choices)}, not {value!r}")
            return str(value)
        if self.type is str:
            return str(value)
        try:
            number = int(str(value))
        except ValueError:
            raise BenchError(f"{self.name} is a whole number, not {value!r}") from None
        if number < self.least:
            raise BenchError(f"{self.name} is at least {self.least}, not {number}")
        return number


@dataclass(frozen=True, slots=True)
class Case:
    """One measurement. `measure(place, options)` returns its figures."""

    name: str
    description: str
    options: tuple[Option, ...]
    measure: Callable[[Place, dict[str, Any]], Figures]

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Every option of the case with its value; None means that it was not given.

        Raises BenchError for an unknown option or a value that does not fit.
        """
        known = {option.name: option for option in self.options}
        for name in given:
            if name not in known:
                raise BenchError(
                    f"case {self.name} has no option {name!r}{did_you_mean(name, known, noun='options')}"
                )
        return {
            name: option.default if given.get(name) is None else option.read(given[name])
            for name, option in known.items()
        }
