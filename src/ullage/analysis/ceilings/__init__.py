# SPDX-License-Identifier: Apache-2.0
"""Upper bounds with their provenance: declared over detected over measured over empirical.

They belong to the device, not to a rank.

``words`` is imported for every command, so nothing stands here.
"""
