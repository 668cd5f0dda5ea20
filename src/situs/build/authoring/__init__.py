"""Authoring: models choose and phrase, kernels answer,
a parser proves, rules and readers decide."""

from situs.build.authoring.pipeline import author_bench
from situs.build.authoring.record import Authored, AuthorOptions
from situs.build.authoring.roles import AuthorRoles, Purse, check_roles

__all__ = ["AuthorOptions", "AuthorRoles", "Authored", "Purse", "author_bench", "check_roles"]
