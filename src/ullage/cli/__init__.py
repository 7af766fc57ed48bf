# SPDX-License-Identifier: Apache-2.0
"""The command ``ullage``: one file a verb, each with ``register(app)``; ``app`` finds them by walking this package."""
