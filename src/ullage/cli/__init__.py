# SPDX-License-Identifier: Apache-2.0
"""The command ``ullage``: files of ``VERBS``, which are functions of that name, or ``register(app)`` for groups.

``app`` finds them by walking this package.
"""
