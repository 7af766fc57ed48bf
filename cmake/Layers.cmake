# SPDX-License-Identifier: Apache-2.0
# ullage_layer(FOLDER [ALONE] [USES folder...] [LINKS target...]): a folder of engine/ as an object library whose sources
# see the headers of this folder and of those it uses, and no others. Its files make one translation unit, so that their
# headers are read once, which is half of what compiling a file costs; what a file keeps to itself then has a name that
# its neighbours do not use. More than 20 files make two units, so that no core is left to compile one long unit at the
# end. ALONE: each makes its own, as do files for an instruction set of their own.
# FOLDER/*: the same of each folder below that is not declared yet.
option(ULLAGE_UNITE "The files of a folder make one translation unit: all of it builds sooner, a changed file later" ON)
set(ullage_engine "${CMAKE_SOURCE_DIR}/engine")

# That each file compiles by itself is known before code is made of it, which other builds do. Where these precompile
# nothing (see below), they show it of the first file of each unit and of files that are compiled alone: only the others
# are left.
option(ULLAGE_CHECK_ONLY "Compile without making code; the program that is built is an empty file" OFF)
if(ULLAGE_CHECK_ONLY)
  set(CMAKE_CXX_COMPILE_OBJECT "<CMAKE_CXX_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -fsyntax-only <SOURCE>"
    "${CMAKE_COMMAND} -E touch <OBJECT>")
  set(CMAKE_CXX_LINK_EXECUTABLE "${CMAKE_COMMAND} -E touch <TARGET>")
endif()

# Headers of the standard library that most folders include are precompiled: each unit takes a second less. Files still
# include what they use; preset `apart`, which compiles without this, checks that. Not with a compiler cache: it could no
# longer share what the builds for two MPIs have in common. The sanitizers' builds share nothing, so they do without one.
set(ullage_precompiled_headers
  <algorithm> <array> <atomic> <chrono> <cmath> <expected> <filesystem> <fstream> <functional> <map> <memory> <optional>
  <set> <span> <sstream> <string> <string_view> <thread> <utility> <variant> <vector> <nlohmann/json.hpp>)
set(ullage_precompile OFF)
set(ullage_compiler_cache "${CMAKE_CXX_COMPILER_LAUNCHER}")
if(ULLAGE_SANITIZE OR ULLAGE_RACES)
  set(CMAKE_CXX_COMPILER_LAUNCHER "")
endif()
if(ULLAGE_UNITE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT ULLAGE_ZIG)
  set(ullage_precompile ON)
  add_library(ullage-precompiled OBJECT "${CMAKE_SOURCE_DIR}/cmake/precompiled.cpp")
  target_link_libraries(ullage-precompiled PRIVATE ullage::options ullage::json)
  target_precompile_headers(ullage-precompiled PRIVATE ${ullage_precompiled_headers})
endif()

# A folder's headers are seen through links of their own, since an include path reaches everything below it.
function(ullage_show_headers folder)
  file(GLOB headers CONFIGURE_DEPENDS "${ullage_engine}/${folder}/*.hpp")
  list(FILTER headers EXCLUDE REGEX "test_support\\.hpp$")
  ullage_seen_at(view ${folder})
  file(REMOVE_RECURSE "${view}")
  file(MAKE_DIRECTORY "${view}/${folder}")
  foreach(header IN LISTS headers)
    cmake_path(GET header FILENAME name)
    file(CREATE_LINK "${header}" "${view}/${folder}/${name}" SYMBOLIC)
  endforeach()
  # x.cl becomes the text x_cl of x.cl.hpp.
  file(GLOB texts CONFIGURE_DEPENDS "${ullage_engine}/${folder}/*.cl" "${ullage_engine}/${folder}/*.ptx")
  foreach(file IN LISTS texts)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" text)
    cmake_path(GET file FILENAME name)
    string(MAKE_C_IDENTIFIER "${name}" variable)
    set(header "${CMAKE_BINARY_DIR}/generated/${name}.hpp")
    file(CONFIGURE OUTPUT "${header}" @ONLY
      CONTENT "#pragma once\ninline constexpr const char* @variable@ = R\"text(@text@)text\";\n")
    file(CREATE_LINK "${header}" "${view}/${folder}/${name}.hpp" SYMBOLIC)
  endforeach()
endfunction()

function(ullage_seen_at result folder)
  string(REPLACE "/" "." name "${folder}")
  set(${result} "${CMAKE_BINARY_DIR}/engine/${name}" PARENT_SCOPE)
endfunction()

function(ullage_layer folder)
  cmake_parse_arguments(PARSE_ARGV 1 layer "ALONE" "" "USES;LINKS")
  if(folder MATCHES "/\\*$")
    ullage_layers_below("${folder}" ${ARGN})
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${ullage_engine}/${folder}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  ullage_show_headers(${folder})
  foreach(seen IN LISTS layer_USES)
    if(NOT seen IN_LIST ullage_layers)
      message(FATAL_ERROR "engine/${folder} uses engine/${seen}, which is not declared above it in engine/layers.cmake")
    endif()
  endforeach()
  set(ullage_layers ${ullage_layers} ${folder} PARENT_SCOPE)
  if(NOT sources)
    return() # headers alone: code is made of them where they are used
  endif()
  set_property(GLOBAL APPEND PROPERTY ullage_layer_sources ${sources})
  if(ULLAGE_CHECK_ONLY AND CMAKE_CXX_COMPILER_LAUNCHER)
    ullage_leave_later_files(sources "${layer_ALONE}")
    if(NOT sources)
      return()
    endif()
  endif()
  string(MAKE_C_IDENTIFIER "${folder}" name)
  set(target "engine-${name}")
  add_library(${target} OBJECT ${sources})
  target_link_libraries(${target} PRIVATE ullage::options ullage::json ${layer_LINKS})
  foreach(seen IN LISTS layer_USES ITEMS ${folder})
    ullage_seen_at(view ${seen})
    target_include_directories(${target} PRIVATE "${view}")
  endforeach()
  ullage_unite(${target} "${layer_ALONE}" ${sources})
  if(ullage_precompile AND NOT layer_ALONE)
    target_precompile_headers(${target} REUSE_FROM ullage-precompiled)
  endif()
  set(ullage_layer_targets ${ullage_layer_targets} ${target} PARENT_SCOPE)
endfunction()

# Leaves of the files of a folder those that other builds compile after another file.
function(ullage_leave_later_files files alone)
  set(later "")
  if(NOT alone)
    foreach(source IN LISTS ${files})
      ullage_has_own_instructions(own "${source}")
      if(NOT own)
        list(APPEND later "${source}")
      endif()
    endforeach()
    list(POP_FRONT later)
  endif()
  set(${files} ${later} PARENT_SCOPE)
endfunction()

function(ullage_has_own_instructions result source)
  file(STRINGS "${source}" own_instructions REGEX "^#pragma GCC target" LIMIT_COUNT 1)
  set(${result} "${own_instructions}" PARENT_SCOPE)
endfunction()

macro(ullage_layers_below pattern)
  string(REPLACE "/*" "" above "${pattern}")
  file(GLOB entries LIST_DIRECTORIES ON CONFIGURE_DEPENDS RELATIVE "${ullage_engine}" "${ullage_engine}/${pattern}")
  foreach(entry IN LISTS entries)
    if(IS_DIRECTORY "${ullage_engine}/${entry}" AND NOT entry IN_LIST ullage_layers)
      ullage_layer(${entry} ${ARGN})
    endif()
  endforeach()
  set(ullage_layers ${ullage_layers} PARENT_SCOPE)
  set(ullage_layer_targets ${ullage_layer_targets} PARENT_SCOPE)
endmacro()

function(ullage_unite target alone)
  if(alone AND ULLAGE_SANITIZE)
    # Loops of intrinsics with every step checked and nothing inlined take a compiler more time than the rest together.
    target_compile_options(${target} PRIVATE -O1)
  endif()
  if(alone OR NOT ULLAGE_UNITE)
    return()
  endif()
  foreach(source IN LISTS ARGN)
    ullage_has_own_instructions(own "${source}")
    if(own)
      set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  list(LENGTH ARGN files)
  set(files_a_unit 0) # all of them
  if(files GREATER 20)
    math(EXPR files_a_unit "(${files} + 1) / 2")
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files_a_unit}
    UNITY_BUILD_CODE_BEFORE_INCLUDE "// NOLINTNEXTLINE(bugprone-suspicious-include)")
  # An included file's anonymous namespace is taken for a header's.
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
endfunction()

include("${ullage_engine}/layers.cmake")

file(GLOB_RECURSE undeclared CONFIGURE_DEPENDS "${ullage_engine}/*.cpp")
list(FILTER undeclared EXCLUDE REGEX "_test\\.cpp$")
get_property(declared GLOBAL PROPERTY ullage_layer_sources)
list(REMOVE_ITEM undeclared ${declared} "${ullage_engine}/main.cpp")
if(undeclared)
  message(FATAL_ERROR "no layer has these; declare their folder in engine/layers.cmake:\n${undeclared}")
endif()
