"""`plugin:module:object`: any object with `answer(request)`, the way in for 3D research models."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from situs.base.plugins import load_offered, offered
from situs.clients.protocol import ClientDefaults, Reply, Request, Settings
from situs.clients.reach import Reach
from situs.clients.settings import GENERATION, settings_of
from situs.clients.spec import ENTRY_POINTS, Spec
from situs.errors import SitusError, did_you_mean

__all__ = ["ObjectClient", "PluginClient"]


class ObjectClient(ClientDefaults):
    """Wraps an object with `answer(request)`. What it raises becomes a failed call that bears its
    message.

    The object may declare `remote` (False: it sends nothing off this machine; undeclared counts as
    remote), `concurrency` (calls at once; one for a plain `answer`, as many as the run allows for
    an async one) and `version` (its answers are then cached under it).
    """

    takes_volume = True

    def __init__(
        self, model: Any, spec: Spec | None = None, settings: Settings | None = None
    ) -> None:
        if not callable(getattr(model, "answer", None)):
            where = str(spec) if spec is not None else type(model).__name__
            raise SitusError("has no answer(request)", where=where, fix="see docs/plugins.md")
        self.spec = spec or Spec("object", f"{type(model).__module__}.{type(model).__qualname__}")
        self.settings: Settings = settings or Settings()
        self._object = model
        self.name = str(self.spec)
        self.remote = bool(getattr(self._object, "remote", True))
        self.versions = {}
        version = getattr(self._object, "version", None)
        if version is not None:
            self.versions = {self.spec.name: str(version)}
            object_settings = {
                key: value for key, value in self.spec.settings.items() if key not in GENERATION
            }
            self.cache_key = (
                f"{self.spec.kind}:{self.spec.name}@{version}?{sorted(object_settings.items())}"
            )
        at_once = getattr(self._object, "concurrency", None)
        if at_once is not None and (not isinstance(at_once, int) or at_once < 1):
            raise SitusError(
                f"concurrency is {at_once!r}, not a whole number from 1", where=self.name
            )
        self._answer: Callable[[Request], Any] = self._object.answer
        self._is_async = inspect.iscoroutinefunction(self._answer)
        self._turns = asyncio.Semaphore(at_once) if self._is_async and at_once else None
        self.reusable = not self._is_async
        """Whether another run may go on with it; an async object may hold on to its event loop."""
        self._threads = (
            None
            if self._is_async
            else ThreadPoolExecutor(at_once or 1, thread_name_prefix="situs-plugin")
        )

    async def answer(self, request: Request) -> Reply:
        """What the object says."""
        try:
            if self._threads is not None:
                answer = await asyncio.get_running_loop().run_in_executor(
                    self._threads, self._answer, request
                )
            elif self._turns is not None:
                async with self._turns:
                    answer = await self._answer(request)
            else:
                answer = await self._answer(request)
        except Exception as error:
            return Reply(
                "failed",
                error=f"{type(error).__name__}: {' '.join(str(error).split())[:300]}",
                fatal=True,
            )
        if isinstance(answer, str):
            return Reply("answered", answer)
        if isinstance(answer, Reply):
            return _checked(answer)
        problem = f"answer() gave {type(answer).__name__}, not text or a Reply"
        return Reply("failed", error=problem, fatal=True)

    async def close(self) -> None:
        """Close the object, if it can be closed."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
        close = getattr(self._object, "close", None)
        if callable(close):
            ended = close()
            if inspect.isawaitable(ended):
                await ended


def _checked(reply: Reply) -> Reply:
    """A reply that can be kept: records do not check their values when they are made,
    and a journal with a wrong one could not be read again."""
    try:
        msgspec.convert(msgspec.to_builtins(reply), Reply)
    except (msgspec.ValidationError, TypeError) as error:
        problem = f"answer() gave a Reply that cannot be kept: {error}"
        return Reply("failed", error=problem, fatal=True)
    return reply


class PluginClient(ObjectClient):
    """The object that `plugin:module:object` names."""

    def __init__(self, spec: Spec, reach: Reach | None = None) -> None:
        plugin = _find(spec)
        plugin_settings = {
            key: value for key, value in spec.settings.items() if key not in GENERATION
        }
        super().__init__(
            _made(plugin, plugin_settings, spec),
            spec,
            settings_of(spec, own=tuple(plugin_settings)),
        )


def _find(spec: Spec) -> Any:
    """The object a spec names: `plugin:module:object`, or what an installed package offers.

    That is `plugin:bright`, or `bright` alone.
    """
    module_name, _, path = spec.name.partition(":")
    if spec.kind != "plugin":
        if spec.name or spec.url:
            fix = f"write {spec.kind}, with its settings after a ?"
            raise SitusError(f"takes no {spec.name or spec.url!r}", where=str(spec), fix=fix)
        return load_offered(ENTRY_POINTS, spec.kind, where=str(spec))
    if not path:
        if not offered(ENTRY_POINTS):
            problem = f"no installed package offers a client {module_name!r}"
            raise SitusError(problem, where=str(spec), fix="write plugin:module:object")
        return load_offered(ENTRY_POINTS, module_name, where=str(spec))
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    plugin = _loaded(lambda: importlib.import_module(module_name), spec)
    for part in path.split("."):
        if not hasattr(plugin, part):
            names = [name for name in dir(plugin) if not name.startswith("_")]
            raise SitusError(
                f"there is no {part!r} in it", where=str(spec), fix=did_you_mean(part, names)
            )
        plugin = getattr(plugin, part)
    return plugin


def _loaded(load: Callable[[], Any], spec: Spec) -> Any:
    try:
        return load()
    except Exception as error:
        problem = f"cannot be imported ({type(error).__name__}: {error})"
        raise SitusError(
            problem, where=str(spec), fix="is it installed, or in this folder?"
        ) from error


def _made(plugin: Any, settings: dict[str, str], spec: Spec) -> Any:
    """An object that answers: the one found,
    or what the class or factory found makes of the settings."""
    if inspect.isclass(plugin) or (callable(plugin) and not hasattr(plugin, "answer")):
        try:
            plugin = plugin(**settings)
        except SitusError:
            raise
        except Exception as error:
            problem = f"cannot be made ({type(error).__name__}: {error})"
            raise SitusError(
                problem, where=str(spec), fix="its settings are passed as keywords"
            ) from error
    elif settings:
        fix = "name a class or a function that makes it"
        raise SitusError(
            f"is made already and takes no {min(settings)!r}", where=str(spec), fix=fix
        )
    return plugin
