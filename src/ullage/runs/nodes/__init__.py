# SPDX-License-Identifier: Apache-2.0
"""What a run of every node by itself was asked, and what it says of the nodes: from documents alone."""
