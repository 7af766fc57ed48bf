# SPDX-License-Identifier: Apache-2.0
# ullage_unite(target source...): several files make one translation unit, so that their headers are read once.

# Files that register call things of their own by the same names (`registered`, their tables), so each makes a unit with
# none but those that are named after it: transfer.cpp with transfer_phase.cpp. Kernels stay alone: those of one
# instruction set are named as those of another. All others go together as they come.
function(ullage_unite target)
  set(files_of_a_unit 10)
  set(others ${ARGN})
  foreach(source IN LISTS ARGN)
    file(STRINGS "${source}" registers REGEX "Registered<" LIMIT_COUNT 1)
    file(STRINGS "${source}" own_target REGEX "^#pragma GCC target" LIMIT_COUNT 1)
    if(own_target OR source MATCHES "/kernels/")
      list(REMOVE_ITEM others "${source}")
      set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    elseif(registers)
      string(REGEX REPLACE "\\.cpp$" "" name "${source}")
      set(named_after_it ${ARGN})
      list(FILTER named_after_it INCLUDE REGEX "^${name}[_.]")
      list(REMOVE_ITEM others ${named_after_it})
      cmake_path(RELATIVE_PATH name BASE_DIRECTORY "${CMAKE_SOURCE_DIR}/engine")
      string(MAKE_C_IDENTIFIER "${name}" group)
      set_source_files_properties(${named_after_it} PROPERTIES UNITY_GROUP "${group}")
    endif()
  endforeach()
  set(index 0)
  foreach(source IN LISTS others)
    math(EXPR unit "${index} / ${files_of_a_unit}")
    math(EXPR index "${index} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${unit})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP
    UNITY_BUILD_CODE_BEFORE_INCLUDE "// NOLINTNEXTLINE(bugprone-suspicious-include)")
  # An included file's anonymous namespace is taken for a header's.
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
endfunction()
