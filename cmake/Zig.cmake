# SPDX-License-Identifier: Apache-2.0
# Toolchain of the wheel: the compiler of the Python wheel `ziglang`, which makes programs for any Linux from glibc 2.28 on
# and links its own C++ library into them. ULLAGE_ZIG: its program (scripts/steps/wheel.py).
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ULLAGE_ZIG)
set(CMAKE_C_COMPILER "${ULLAGE_ZIG}" cc -target x86_64-linux-gnu.2.28)
set(CMAKE_CXX_COMPILER "${ULLAGE_ZIG}" c++ -target x86_64-linux-gnu.2.28)
# It compiles its C++ library for each level of optimization and links it with what is compiled at the same one: so that
# CMake's own tries need no second one, they are at that of the engine.
set(CMAKE_C_FLAGS_INIT -O2)
set(CMAKE_CXX_FLAGS_INIT -O2)
