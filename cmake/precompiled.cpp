// SPDX-License-Identifier: Apache-2.0
// The one source of the target whose precompiled headers the layers share; CMake wants a target to have one.
