# SPDX-License-Identifier: Apache-2.0
# Target ullage::options: C++23, warnings, sanitizers, threads.

# A warning that a compiler we have not seen invents must not stop anybody's build.
set(known_compiler OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.")
  set(known_compiler ON)
endif()
option(ULLAGE_WERROR "Warnings are errors" ${known_compiler})
option(ULLAGE_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(ULLAGE_SANITIZE_TESTS "They check the tests' own code too, and what AddressSanitizer finds most of itself" ON)
option(ULLAGE_RACES "ThreadSanitizer, and of the tests those of what is threaded" OFF)
# Holds where a target has no property ULLAGE_UNCHECKED: what is not checked is compiled as in the builds without.
set(checked "$<NOT:$<BOOL:$<TARGET_PROPERTY:ULLAGE_UNCHECKED>>>")
if(ULLAGE_SANITIZE OR ULLAGE_RACES)
  add_compile_options($<${checked}:-O0> $<${checked}:-UNDEBUG>)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Until it has this much (in KiB) the compiler frees nothing of its own: looking for that was an eighth of its time.
  add_compile_options(--param=ggc-min-heapsize=524288)
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS "${CMAKE_CXX23_STANDARD_COMPILE_OPTION}")
check_cxx_source_compiles("#include <expected>
int main() { return std::expected<int, int>{0}.value(); }" ULLAGE_HAS_STD_EXPECTED)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT ULLAGE_HAS_STD_EXPECTED)
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}) has no std::expected; "
    "g++ 12 or later is needed. Set CXX to one and run again.")
endif()

find_package(Threads REQUIRED)
add_library(ullage-options INTERFACE)
add_library(ullage::options ALIAS ullage-options)
target_link_libraries(ullage-options INTERFACE Threads::Threads)
set(ullage_compile_options -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 to 15 see it in the destructors of any std::variant they inline; clang-tidy and the sanitizers find the real ones.
  list(APPEND ullage_compile_options -Wno-maybe-uninitialized)
endif()
if(ULLAGE_WERROR)
  list(APPEND ullage_compile_options -Werror)
endif()
set(checks "")
if(ULLAGE_SANITIZE)
  set(checks -fsanitize=address,undefined -fno-sanitize-recover=undefined)
  if(NOT ULLAGE_SANITIZE_TESTS)
    # A quarter of the compiling. A null pointer and an object that is too small end the test all the same.
    list(APPEND checks -fno-sanitize=null,alignment,object-size,vptr)
  endif()
  target_compile_definitions(ullage-options INTERFACE $<${checked}:_GLIBCXX_ASSERTIONS>)
elseif(ULLAGE_RACES)
  set(checks -fsanitize=thread)
endif()
target_link_options(ullage-options INTERFACE ${checks})
if(ULLAGE_SANITIZE)
  list(APPEND checks -fno-omit-frame-pointer)
endif()
target_compile_options(ullage-options INTERFACE ${ullage_compile_options})
foreach(option IN LISTS checks)
  target_compile_options(ullage-options INTERFACE "$<${checked}:${option}>")
endforeach()
# Behind the others, since the last word counts: a target with this property is checked for addresses alone.
target_compile_options(ullage-options INTERFACE
  "$<$<BOOL:$<TARGET_PROPERTY:ULLAGE_ADDRESSES_ALONE>>:-fno-sanitize=undefined>")
list(APPEND ullage_compile_options ${checks})
