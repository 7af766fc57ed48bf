# SPDX-License-Identifier: Apache-2.0
# Target ullage-engines: one program for each binary interface of MPI, beside ullage-engine, which is without MPI and
# becomes the one that fits (engine/abi). All that differs between them is layer mpi, compiled with another mpi.h. They
# are linked with no library of MPI: ullage-engine lets the dynamic linker load it first.
set(ullage_abi_targets "")
file(GLOB abi_headers RELATIVE "${ULLAGE_MPI_HEADERS}" "${ULLAGE_MPI_HEADERS}/*/mpi.h")
foreach(header IN LISTS abi_headers)
  cmake_path(GET header PARENT_PATH abi)
  ullage_mpi_layer_again(engine-mpi-${abi})
  get_target_property(links engine-mpi-${abi} LINK_LIBRARIES)
  list(REMOVE_ITEM links ullage::mpi)
  set_property(TARGET engine-mpi-${abi} PROPERTY LINK_LIBRARIES ${links})
  target_compile_definitions(engine-mpi-${abi} PRIVATE ULLAGE_CHECK_COLLECTIVES=0
    "ULLAGE_MPI_ABI=\"${abi}\"" OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_include_directories(engine-mpi-${abi} SYSTEM PRIVATE
    "${CMAKE_SOURCE_DIR}/engine/mpi/weak" "${ULLAGE_MPI_HEADERS}/${abi}")
  list(TRANSFORM ullage_layer_targets REPLACE "^engine-mpi$" engine-mpi-${abi} OUTPUT_VARIABLE layers)
  ullage_engine_program(ullage-engine-${abi} ${layers})
  list(APPEND ullage_abi_targets ullage-engine-${abi})
endforeach()
add_custom_target(ullage-engines DEPENDS ullage-engine ${ullage_abi_targets})
