# SPDX-License-Identifier: Apache-2.0
# Target ullage-engines: one program for each binary interface of MPI, beside ullage-engine, which is without MPI and
# becomes the one that fits (engine/abi). All that differs between them is layer mpi, compiled with another mpi.h. They
# are linked with no library of MPI: ullage-engine lets the dynamic linker load it first.
set(ullage_abi_targets "")
file(GLOB abi_headers RELATIVE "${ULLAGE_MPI_HEADERS}" "${ULLAGE_MPI_HEADERS}/*/mpi.h")
# Gives `target` the mpi.h of an ABI in place of the one without MPI.
function(ullage_for_abi target abi)
  get_target_property(links ${target} LINK_LIBRARIES)
  list(REMOVE_ITEM links ullage::mpi)
  set_property(TARGET ${target} PROPERTY LINK_LIBRARIES ${links})
  target_compile_definitions(${target} PRIVATE "ULLAGE_MPI_ABI=\"${abi}\"" OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_include_directories(${target} SYSTEM PRIVATE
    "${CMAKE_SOURCE_DIR}/engine/mpi/weak" "${ULLAGE_MPI_HEADERS}/${abi}")
endfunction()
foreach(header IN LISTS abi_headers)
  cmake_path(GET header PARENT_PATH abi)
  ullage_mpi_layer_again(engine-mpi-${abi})
  ullage_for_abi(engine-mpi-${abi} ${abi})
  target_compile_definitions(engine-mpi-${abi} PRIVATE ULLAGE_CHECK_COLLECTIVES=0)
  list(TRANSFORM ullage_layer_targets REPLACE "^engine-mpi$" engine-mpi-${abi} OUTPUT_VARIABLE layers)
  ullage_engine_program(ullage-engine-${abi} ${layers})
  list(APPEND ullage_abi_targets ullage-engine-${abi})
endforeach()
add_custom_target(ullage-engines DEPENDS ullage-engine ${ullage_abi_targets})

# The tests are those of the program for Open MPI where the machine has that, and else of the one without MPI.
find_program(ULLAGE_TESTED_MPIEXEC mpiexec)
if(ULLAGE_TESTED_MPIEXEC)
  execute_process(COMMAND "${ULLAGE_TESTED_MPIEXEC}" --version OUTPUT_VARIABLE said ERROR_QUIET)
  if(said MATCHES "Open MPI|OpenRTE")
    set(ullage_mpiexec "${ULLAGE_TESTED_MPIEXEC}")
    ullage_for_abi(engine-mpi-checked openmpi)
  endif()
endif()
