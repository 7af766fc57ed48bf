# SPDX-License-Identifier: Apache-2.0
"""A search for the best setting of a suite: every trial is a run of that suite with a result of its own.

``options``: what is asked. ``tuned_parameters``: what is varied. ``trial_inputs``: a setting as options of the suite.
``objective``: what a trial's rows and scores say. ``budget``: time, bytes and trials that are left. ``prepared``: the
search between `ullage tune` and its result. ``searching``: its trials, one after the other. ``summarise``: what it has
found.
"""
