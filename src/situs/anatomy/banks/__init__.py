"""Banks of graded questions, as data."""

from situs.anatomy.banks.bank import (
    Bank,
    BankQuestion,
    Chain,
    Family,
    Region,
    SubScore,
    ZeroRule,
    levels_in,
    load_bank,
    shipped_banks,
)
from situs.anatomy.banks.scale import Level, Range, Scale

__all__ = [
    "Bank",
    "BankQuestion",
    "Chain",
    "Family",
    "Level",
    "Range",
    "Region",
    "Scale",
    "SubScore",
    "ZeroRule",
    "levels_in",
    "load_bank",
    "shipped_banks",
]
