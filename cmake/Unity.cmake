# SPDX-License-Identifier: Apache-2.0
# ullage_unite(target source...): several files make one translation unit, so that their headers are read once, which is
# half of what compiling a file costs. So what a file keeps to itself has a name that its neighbours do not use.

# Kernels stay alone: those of one instruction set are named as those of another. So does what registers itself and has
# many files named after it (transfer.cpp with transfer_phase.cpp and others): such families are named like each other.
function(ullage_unite target)
  set(files_of_a_unit 20)
  set(files_of_a_family 4)
  set(others ${ARGN})
  foreach(source IN LISTS ARGN)
    file(STRINGS "${source}" registers REGEX "Registered<" LIMIT_COUNT 1)
    file(STRINGS "${source}" own_target REGEX "^#pragma GCC target" LIMIT_COUNT 1)
    string(REGEX REPLACE "\\.cpp$" "" name "${source}")
    set(family ${ARGN})
    list(FILTER family INCLUDE REGEX "^${name}[_.]")
    list(LENGTH family family_files)
    if(own_target OR source MATCHES "/kernels/")
      list(REMOVE_ITEM others "${source}")
      set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    elseif(registers AND family_files GREATER_EQUAL files_of_a_family)
      list(REMOVE_ITEM others ${family})
      cmake_path(RELATIVE_PATH name BASE_DIRECTORY "${CMAKE_SOURCE_DIR}/engine")
      string(MAKE_C_IDENTIFIER "${name}" group)
      set_source_files_properties(${family} PROPERTIES UNITY_GROUP "${group}")
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
