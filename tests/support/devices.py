# SPDX-License-Identifier: Apache-2.0
"""Accelerators as ``ullage-engine devices`` lists them."""

from ullage.model.describe import Device

_USUAL: dict[str, object] = {
    "name": "card",
    "platform": "CUDA",
    "driver": "CUDA 12.4",
    "kind": "gpu",
    "pci": "",
    "memory_bytes": 80 << 30,
    "cache_bytes": 50 << 20,
    "has_fp64": True,
}


def device(name: str, /, **fields: object) -> Device:
    """Make a device of that id."""
    return Device.model_validate({**_USUAL, "id": name, **fields})
