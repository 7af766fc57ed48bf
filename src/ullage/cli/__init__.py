# SPDX-License-Identifier: Apache-2.0
"""The command ``ullage``: one file a verb, with a function of its name, or ``register(app)`` where that is not enough.

``app`` finds them by walking this package.
"""
