# SPDX-License-Identifier: Apache-2.0
# Where ranks call their collectives from is compared in the tests, and in the whole engine of the sanitizers' build. The
# product has none of it: layer mpi is compiled a second time for the tests, which link that in its place.
option(ULLAGE_CHECK_COLLECTIVES "The engine compares over its ranks where each collective is called from" OFF)
target_compile_definitions(engine-mpi PRIVATE ULLAGE_CHECK_COLLECTIVES=$<BOOL:${ULLAGE_CHECK_COLLECTIVES}>)

# The targets that the tests link: those of all layers, with a layer mpi that checks.
set(ullage_tested_targets ${ullage_layer_targets})
if(NOT ULLAGE_CHECK_COLLECTIVES)
  ullage_mpi_layer_again(engine-mpi-checked)
  target_compile_definitions(engine-mpi-checked PRIVATE ULLAGE_CHECK_COLLECTIVES=1)
  list(TRANSFORM ullage_tested_targets REPLACE "^engine-mpi$" engine-mpi-checked)
endif()
