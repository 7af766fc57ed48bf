# SPDX-License-Identifier: Apache-2.0
# Target ullage-engine-tests: all engine/**/x_test.cpp in one program. Suites whose names start with `Mpi` run on 1, 2, 3
# and 4 ranks (fewer under the sanitizers) or on two of these (`alike` below), the others on one. Not built by default:
# `cmake --build --target ullage-engine-tests`, then `ctest`.
# The files that cannot be compiled without GoogleTest or rapidcheck are named in left-out.txt, which `make test` shows.
file(GLOB_RECURSE engine_tests CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/engine/*_test.cpp")
set(tested_layers ${ullage_tested_targets})
if(ULLAGE_RACES)
  include(Races) # fewer of both: what is threaded, and the layers below it
endif()
if(ULLAGE_ZIG)
  # Its C++ library is not that of the machine's GoogleTest and rapidcheck. Of the one Debian has the sources.
  set(googletest /usr/src/googletest)
  if(EXISTS "${googletest}/CMakeLists.txt")
    set(BUILD_GMOCK OFF)
    set(INSTALL_GTEST OFF)
    add_subdirectory("${googletest}" googletest EXCLUDE_FROM_ALL)
    set(GTest_FOUND ON)
  endif()
else()
  find_package(GTest QUIET)
  find_package(rapidcheck QUIET)
endif()
set(left_out "")
foreach(test IN LISTS engine_tests)
  file(STRINGS "${test}" uses_rapidcheck REGEX "#include <rapidcheck" LIMIT_COUNT 1)
  if(NOT GTest_FOUND OR (uses_rapidcheck AND NOT rapidcheck_FOUND))
    list(REMOVE_ITEM engine_tests "${test}")
    cmake_path(RELATIVE_PATH test BASE_DIRECTORY "${CMAKE_SOURCE_DIR}")
    string(APPEND left_out "${test}\n")
  endif()
endforeach()
file(WRITE "${CMAKE_BINARY_DIR}/left-out.txt" "${left_out}")
if(left_out)
  message(WARNING "GoogleTest or rapidcheck is not installed; these tests are left out:\n${left_out}")
endif()
if(NOT GTest_FOUND)
  return()
endif()

add_executable(ullage-engine-tests EXCLUDE_FROM_ALL tests/engine/main.cpp tests/engine/few_threads.cpp
  ${engine_tests})
target_link_libraries(ullage-engine-tests PRIVATE ${tested_layers} ullage::options ullage::json ullage::mpi
  ullage::build_info ${CMAKE_DL_LIBS} GTest::gtest)
if(ULLAGE_ZIG AND ullage_mpiexec)
  ullage_for_abi(ullage-engine-tests openmpi)
endif()
if(NOT ULLAGE_ZIG)
  # The driver of CUDA that the tests find before any other: an old kind of path, which counts whoever calls dlopen.
  add_library(ullage-fake-cuda MODULE EXCLUDE_FROM_ALL tests/engine/fake_cuda.cpp)
  target_include_directories(ullage-fake-cuda PRIVATE "${CMAKE_SOURCE_DIR}/engine")
  target_compile_options(ullage-fake-cuda PRIVATE -O3 -march=native)
  set_target_properties(ullage-fake-cuda PROPERTIES PREFIX "" OUTPUT_NAME libcuda SUFFIX .so.1
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fake")
  add_dependencies(ullage-engine-tests ullage-fake-cuda)
  set_property(TARGET ullage-engine-tests APPEND PROPERTY BUILD_RPATH "\$ORIGIN/fake")
  target_link_options(ullage-engine-tests PRIVATE -Wl,--disable-new-dtags)
endif()
# Tests see everything: one of a low layer may be about what a high one makes of it.
target_include_directories(ullage-engine-tests PRIVATE "${CMAKE_SOURCE_DIR}/engine")
# The tests' own code is compiled on each leg and run once: what compiles soonest is best. The engine's keeps its own
# flags.
target_compile_options(ullage-engine-tests PRIVATE -O0 -g0)
if(ULLAGE_SANITIZE AND NOT ULLAGE_SANITIZE_TESTS)
  # The same objects as without sanitizers, so that a compiler cache has them. Where the engine is used, it is checked:
  # its objects are linked before the tests', so that the copies of its inline functions are taken.
  set_target_properties(ullage-engine-tests PROPERTIES ULLAGE_UNCHECKED ON
    CXX_COMPILER_LAUNCHER "${ullage_compiler_cache}")
elseif(ULLAGE_SANITIZE OR ULLAGE_ZIG)
  # What tests do themselves is checked for addresses alone, which saves a third of their compiling. The engine's inline
  # functions keep all checks: its objects are linked before the tests', so that its copies are taken. What is not
  # optimized zig would check unasked, and then need its runtime library.
  set_target_properties(ullage-engine-tests PROPERTIES ULLAGE_ADDRESSES_ALONE ON)
endif()
if(ULLAGE_UNITE)
  # The tests of a room make one translation unit, and so do those of storage's workloads and of sockets, which are many:
  # each test file has a namespace of its own.
  foreach(test IN LISTS engine_tests)
    string(REGEX MATCH "/engine/(storage/workloads|message/sockets|[^/]+)/" room "${test}")
    string(MAKE_C_IDENTIFIER "${CMAKE_MATCH_1}" room)
    set_source_files_properties("${test}" PROPERTIES UNITY_GROUP "${room}")
  endforeach()
  set_target_properties(ullage-engine-tests PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endif()
if(rapidcheck_FOUND)
  # Its include folder has to be a system one: the header does not stand our warnings.
  get_target_property(rapidcheck_includes rapidcheck INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(ullage-engine-tests SYSTEM PRIVATE ${rapidcheck_includes})
  target_link_libraries(ullage-engine-tests PRIVATE rapidcheck)
endif()

# What each family needs on one machine with more ranks than cores, as root, without a network. MPICH's own yield is a
# sched_yield, after which a rank that waits goes on taking the core from one that works. Open MPI's other way of sending
# loads the libraries of Omni-Path, which calibrate a clock for 0.2 s before they find that there is none.
set(test_environment
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
  OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
  MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_MULTIPLE MPIR_CVAR_POLLS_BEFORE_YIELD=10 MPIR_CVAR_POSIX_POLL_FREQUENCY=10
  MPIR_CVAR_ENABLE_HEAVY_YIELD=1
  ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
  # pocl keeps what it has of its devices until the end.
  "LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/cmake/leaks_of_others.txt"
  "ULLAGE_FUZZ_CORPUS=${CMAKE_SOURCE_DIR}/tests/fuzz/corpus")
if(ULLAGE_RACES)
  # The UCX of the mpich wheel puts itself before calls of threads that ThreadSanitizer does not know yet.
  list(APPEND test_environment TSAN_OPTIONS=history_size=7 UCX_MEM_MMAP_HOOK_MODE=none)
endif()

enable_testing()
function(ullage_add_test name ranks filter)
  set(launcher "${ullage_mpiexec}" -n ${ranks})
  if(NOT ullage_mpiexec)
    set(launcher "")
  elseif(ULLAGE_ZIG)
    list(APPEND launcher env LD_PRELOAD=libmpi.so.40)
  endif()
  add_test(NAME ${name} COMMAND ${launcher} $<TARGET_FILE:ullage-engine-tests>
    "--gtest_filter=${filter}" "--gtest_output=xml:${CMAKE_BINARY_DIR}/reports/${name}.xml")
  set_tests_properties(${name} PROPERTIES PROCESSORS ${ranks} TIMEOUT 600 ENVIRONMENT "${test_environment}")
endfunction()
set(mpi_suites "Mpi*:*/Mpi*")
ullage_add_test(unit 1 "-${mpi_suites}")
# An odd number is the sanitizers', an even one the other legs': three find in memory what ranks do to it, and a fourth
# takes longest of all where there are two cores.
set(numbers_of_ranks 1 2 4)
set(but "")
if(ULLAGE_SANITIZE)
  set(numbers_of_ranks 1 2 3)
  # Files of HDF5 for each bit and each pattern are many: one rank shows what they do to memory.
  set(but "-*/Mpi*.AWrongBit*/hdf5*:*/MpiPio.*/Hdf5*")
elseif(NOT ullage_mpiexec)
  set(numbers_of_ranks 1)
elseif(ULLAGE_RACES)
  set(numbers_of_ranks 1 2) # threads of ours share memory within a rank; two ranks are both ends of a stream
endif()
# What these do is the same on any number of ranks above one, so 1 and 2, which mostly have a core each, show it. Whom a
# message, a share of the work or an agreement goes to depends on the number: all else also runs on the largest number,
# which takes the place of two with the sanitizers.
set(alike BEffIoPhase Compute Contamination CoreBudget FaultBackend FaultyPlans FilesOf FixedWork Flash FullFileSystem Gemm*
  Hdf5Effects Hdf5Facts Hdf5Library LaunchRecords LaunchWatch LibraryFile ManifestFailure MemoryWorkload Metadata* Mixed*
  ModelBackend Moved Node Overlap PhaseRunner Pio* PosixShared Repetition Resident Session SharedDataset Solve* StuckPhase Transfer*
  Vpic VpicPhase WindowedPhase)
list(TRANSFORM alike REPLACE "(.+)" "Mpi\\1.*:*/Mpi\\1.*") # a suite with parameters has a name before its own
list(JOIN alike ":" alike)
foreach(ranks ${numbers_of_ranks})
  set(chosen "${mpi_suites}")
  if(ranks GREATER 2)
    set(chosen "${mpi_suites}-${alike}")
  elseif(ranks EQUAL 2 AND ULLAGE_SANITIZE)
    set(chosen "${alike}${but}")
  endif()
  ullage_add_test(mpi-${ranks} ${ranks} "${chosen}")
endforeach()
if(ULLAGE_SANITIZE)
  # Only this leg runs HDF5 with MPICH, and which rank writes metadata depends on how many there are.
  ullage_add_test(mpi-4-hdf5 4 "*MpiHdf5*-${alike}")
endif()
