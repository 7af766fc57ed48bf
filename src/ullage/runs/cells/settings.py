# SPDX-License-Identifier: Apache-2.0
"""Through which backends a target is measured, and the parameters of backend and workload, checked."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ullage.engine import find_registered, validate_parameters
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.model.describe import Describe, Parameter, Registered
from ullage.model.plan import Named, Parameters, Target
from ullage.parameters import parse_parameter, suggest
from ullage.suites.sweep.options import Setting, SweepOptions
from ullage.uri import target_path, target_scheme

WORKLOAD: Final = "transfer"
# Set by options of the sweep, so --param must not set them again.
_OWN_OPTIONS: Final[Mapping[str, str]] = {
    "phases": "--access",
    "transfer_bytes": "--block",
    "block_bytes": "--volume",
    "file_mode": "--file",
    "order": "--order",
    "cache": "--cache",
    "verify": "--verify",
}
_DIRECT: Final = "direct"


@dataclass(frozen=True)
class Way:
    """A way to measure a target: a backend with its parameters, and those of the workload besides the sizes."""

    target: Target
    backend: Named
    workload: Parameters


def ways(options: SweepOptions, targets: list[Target], description: Describe) -> list[Way]:
    """Every target with each of its backends and each combination of varied parameters, checked: ``UserError``."""
    found: list[Way] = []
    by_target = {target.name: backends_of(target, options, description) for target in targets}
    _check_things(options, {backend.name for backends in by_target.values() for backend in backends})
    for target in targets:
        for backend in by_target[target.name]:
            for own, workload in _combinations(options, backend, description):
                named = Named(name=backend.name, parameters=_backend_parameters(options, backend, own, description))
                found.append(Way(target, named, _workload_parameters(options, backend, workload, description)))
    return found


def backends_of(target: Target, options: SweepOptions, description: Describe) -> list[Registered]:
    """Those asked for, for a target with a path; else the one of its scheme."""
    names = options.backends if target_path(target) is not None and options.backends else [target_scheme(target)]
    found = [find_registered(description, "backend", name) for name in names]
    for backend in found:
        if target_path(target) is not None and "path" not in backend.capabilities:
            what = f"backend '{backend.name}' uses no storage, so it cannot measure target '{target.name}'"
            raise UserError(what, "--backend", f"give it a target of its own: --target NAME={backend.name}:")
    return found


def _check_things(options: SweepOptions, backends: set[str]) -> None:
    known = [*sorted(backends), WORKLOAD]
    seen: set[str] = set()
    for setting in [*options.parameters, *options.vary]:
        if setting.thing not in known:
            what = f"this sweep uses no backend or workload '{setting.thing}'"
            raise UserError(what, setting.place, suggest(setting.thing, known))
        if setting.thing == WORKLOAD and setting.key in _OWN_OPTIONS:
            raise UserError("has an option of its own", setting.place, f"use {_OWN_OPTIONS[setting.key]}")
        if setting.place in seen:
            raise UserError("is set twice", setting.place, "write it once, in --param or in --vary")
        seen.add(setting.place)


def _combinations(
    options: SweepOptions, backend: Registered, description: Describe
) -> Iterator[tuple[Parameters, Parameters]]:
    """Parameters of backend and workload for each combination of the varied ones that concern them."""
    workload = find_registered(description, "workload", WORKLOAD)
    things = {backend.name: backend, WORKLOAD: workload}
    fixed = [setting for setting in options.parameters if setting.thing in things]
    varied = [setting for setting in options.vary if setting.thing in things]
    for chosen in itertools.product(*(setting.values for setting in varied)):
        given: dict[str, Parameters] = {backend.name: {}, WORKLOAD: {}}
        for setting, text in [(s, s.values[0]) for s in fixed] + list(zip(varied, chosen, strict=True)):
            parameter = _parameter(things[setting.thing], setting)
            given[setting.thing][setting.key] = parse_parameter(parameter, text)
        yield given[backend.name], given[WORKLOAD]


def _parameter(thing: Registered, setting: Setting) -> Parameter:
    by_name = {parameter.name: parameter for parameter in thing.parameters}
    if setting.key not in by_name:
        raise UserError(
            f"'{thing.name}' has no parameter '{setting.key}'", setting.place, suggest(setting.key, by_name)
        )
    return by_name[setting.key]


def _backend_parameters(
    options: SweepOptions, backend: Registered, given: Parameters, description: Describe
) -> Parameters:
    if options.cache == "direct" and "data" in backend.capabilities:
        if all(parameter.name != _DIRECT for parameter in backend.parameters):
            what = f"backend '{backend.name}' has no direct I/O"
            raise UserError(what, "--cache direct", "use --cache advise, or another --backend", EXIT_BAD_INPUT)
        given = {**given, _DIRECT: True}
    return validate_parameters(description, "backend", backend.name, given)


def _workload_parameters(
    options: SweepOptions, backend: Registered, given: Parameters, description: Describe
) -> Parameters:
    """All but the sizes. Where no data is held there is nothing to drop from a cache and nothing to verify."""
    holds_data = "data" in backend.capabilities
    if not holds_data and options.verify not in (None, "none"):
        raise UserError(f"backend '{backend.name}' holds no data to verify", "--verify", "use --verify none")
    whole: Parameters = {
        **given,
        "phases": [*options.phases],
        "file_mode": options.file_mode,
        "order": options.order,
        "cache": "none" if options.cache == "direct" or not holds_data else options.cache,
    }
    if not holds_data:
        whole["verify"] = "none"
    elif options.verify is not None:
        whole["verify"] = options.verify
    return validate_parameters(description, "workload", WORKLOAD, whole)
