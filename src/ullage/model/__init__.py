# SPDX-License-Identifier: Apache-2.0
"""The documents at the borders: frozen models of plan, records, describe, summary, request and system facts."""
