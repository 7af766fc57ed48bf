# SPDX-License-Identifier: Apache-2.0
"""The search for the best setting as pure functions: what to measure next, and what the trials so far say.

``space``: parameters and settings. ``surrogate``: what is expected of a setting that was not measured. ``search``: the
next trial. ``race``: the one between settings that may be best, and which is best in the end.
``confirmation``: whether it is better than the default, and in what. ``effects``: what each parameter does.
"""
