# SPDX-License-Identifier: Apache-2.0
# Where ranks call their collectives from is compared in the tests, and in the whole engine of the sanitizers' build. The
# product has none of it: layer mpi is compiled a second time for the tests, which link that in its place.
option(ULLAGE_CHECK_COLLECTIVES "The engine compares over its ranks where each collective is called from" OFF)
target_compile_definitions(engine-mpi PRIVATE ULLAGE_CHECK_COLLECTIVES=$<BOOL:${ULLAGE_CHECK_COLLECTIVES}>)

# The targets that the tests link: those of all layers, with a layer mpi that checks.
set(ullage_tested_targets ${ullage_layer_targets})
if(NOT ULLAGE_CHECK_COLLECTIVES)
  get_target_property(mpi_sources engine-mpi SOURCES)
  add_library(engine-mpi-checked OBJECT EXCLUDE_FROM_ALL ${mpi_sources})
  foreach(property COMPILE_OPTIONS INCLUDE_DIRECTORIES LINK_LIBRARIES UNITY_BUILD UNITY_BUILD_BATCH_SIZE
          UNITY_BUILD_CODE_BEFORE_INCLUDE)
    get_target_property(value engine-mpi ${property})
    if(NOT value STREQUAL "value-NOTFOUND")
      set_property(TARGET engine-mpi-checked PROPERTY ${property} "${value}")
    endif()
  endforeach()
  target_compile_definitions(engine-mpi-checked PRIVATE ULLAGE_CHECK_COLLECTIVES=1)
  list(TRANSFORM ullage_tested_targets REPLACE "^engine-mpi$" engine-mpi-checked)
endif()
