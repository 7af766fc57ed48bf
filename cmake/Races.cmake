# SPDX-License-Identifier: Apache-2.0
# Which tests ThreadSanitizer runs, and with which layers: threads of ours that share memory are in the watchdog, in the
# team of threads and what runs on it, in threads that move data of one file, in those that move states, samples or
# transfers beside a computation, in those that fill a matrix, and in streams of sockets.
set(tested_layers "")
foreach(layer base abi mpi work storage storage/backends storage/workloads/stepfile storage/workloads/loader
    storage/workloads/overlap probes noise memory/chase memory/stream memory/loaded_latency memory/core_to_core
    message/sockets run run/build run/stop_rules)
  string(MAKE_C_IDENTIFIER "${layer}" name)
  list(APPEND tested_layers "engine-${name}")
endforeach()
list(FILTER engine_tests INCLUDE REGEX
  "/(base/(workers|thread_team|helper_threads|tick_clock|clock|clock_rate|meter|signals)|work/windowed_phase|run/watchdog|\
storage/moving_threads|storage/backends/posix|storage/workloads/(stepfile|loader)/[a-z_]+|\
storage/workloads/overlap/phase|noise/[a-z_]+|linear/matrix|\
memory/(loaded_latency|core_to_core)/[a-z_]+|message/sockets/[a-z_]+)_test\\.cpp$")
