# SPDX-License-Identifier: Apache-2.0
# Target ullage::build_info: the header build_info.hpp, which every result carries. It is written at build time, since
# `git describe` changes without CMake being run, and only when its content changes.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
string(JOIN " " ullage_flags ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}} ${CMAKE_CXX23_STANDARD_COMPILE_OPTION}
  ${ullage_compile_options})

set(build_info_folder "${CMAKE_BINARY_DIR}/generated")
add_custom_target(ullage-write-build-info
  COMMAND "${CMAKE_COMMAND}"
    "-Dsource=${CMAKE_SOURCE_DIR}" "-Dheader=${build_info_folder}/build_info.hpp" "-Dversion=${PROJECT_VERSION}"
    "-Dcompiler=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" "-Dflags=${ullage_flags}"
    "-Dmpiexec=${ullage_mpiexec}"
    -P "${CMAKE_SOURCE_DIR}/cmake/write_build_info.cmake"
  BYPRODUCTS "${build_info_folder}/build_info.hpp"
  COMMENT "" VERBATIM)
add_library(ullage-build-info INTERFACE)
add_library(ullage::build_info ALIAS ullage-build-info)
target_include_directories(ullage-build-info INTERFACE "${build_info_folder}")
add_dependencies(ullage-build-info ullage-write-build-info)
