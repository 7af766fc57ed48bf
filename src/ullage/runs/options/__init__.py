# SPDX-License-Identifier: Apache-2.0
"""The option kit: an option is declared once, as a field of a suite's options model, and everything else follows.

``kinds``: texts of a command line into values and back. ``declared``: what a field says of its option. ``model``: the
base of all options models. ``groups``: options that suites share. ``reading``: a command line or request.json into a
model. ``ullage.cli.options`` makes parameters for typer of a model.

Nothing is imported here: the models need pydantic, and ``ullage --help`` must not wait for it.
"""
