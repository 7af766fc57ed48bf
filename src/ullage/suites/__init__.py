# SPDX-License-Identifier: Apache-2.0
"""The benchmarks that can be run: one package a suite, found by walking this one."""
