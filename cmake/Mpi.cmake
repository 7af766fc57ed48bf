# SPDX-License-Identifier: Apache-2.0
# Target ullage::mpi, the C interface only. Sets ullage_mpiexec.
option(ULLAGE_MPI_SINGLE "Without MPI: the engine is one process" OFF)
set(ULLAGE_MPI_HEADERS "" CACHE PATH "Besides, an engine for each folder here that has an mpi.h: cmake/Abis.cmake")
set(ULLAGE_MPI_WHEEL "" CACHE PATH "Virtual environment holding the `mpich` wheel; empty: the MPI that FindMPI finds")

add_library(ullage-mpi INTERFACE)
add_library(ullage::mpi ALIAS ullage-mpi)
# Without these, mpi.h of either family brings in the C++ bindings that MPI dropped, and their undefined symbols. CMake's
# MPI_CXX_SKIP_MPICXX does it for MPI::MPI_CXX only, which would link those bindings.
target_compile_definitions(ullage-mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

if(ULLAGE_MPI_SINGLE)
  target_include_directories(ullage-mpi INTERFACE "${CMAKE_SOURCE_DIR}/engine/mpi/single")
  set(ullage_mpiexec "")
elseif(ULLAGE_MPI_WHEEL)
  # Not through FindMPI: it cannot read the wrapper's answer when the path of the checkout has a blank in it.
  find_library(ULLAGE_MPI_WHEEL_LIBRARY mpi PATHS "${ULLAGE_MPI_WHEEL}/lib" NO_DEFAULT_PATH REQUIRED)
  target_include_directories(ullage-mpi SYSTEM INTERFACE "${ULLAGE_MPI_WHEEL}/include")
  target_link_libraries(ullage-mpi INTERFACE "${ULLAGE_MPI_WHEEL_LIBRARY}")
  # Debian calls the library of MPICH libmpich.so.12, the wheel libmpi.so.12. Its ABI is the same (MPICH ABI Compatibility
  # Initiative). By this link Debian's HDF5 for MPICH gets the MPI that the engine runs with, and no second one.
  set(other_names "${CMAKE_BINARY_DIR}/mpi-names")
  file(MAKE_DIRECTORY "${other_names}")
  file(CREATE_LINK "${ULLAGE_MPI_WHEEL}/lib/libmpi.so.12" "${other_names}/libmpich.so.12" SYMBOLIC)
  list(APPEND CMAKE_BUILD_RPATH "${other_names}")
  if(ULLAGE_SANITIZE OR ULLAGE_RACES)
    # There dlopen is called by the sanitizer's library, for which the program's RPATH counts and its RUNPATH does not.
    target_link_options(ullage-mpi INTERFACE -Wl,--disable-new-dtags)
  endif()
  set(ullage_mpiexec "${ULLAGE_MPI_WHEEL}/bin/mpiexec")
else()
  find_package(MPI REQUIRED COMPONENTS C)
  target_link_libraries(ullage-mpi INTERFACE MPI::MPI_C)
  set(ullage_mpiexec "${MPIEXEC_EXECUTABLE}")
endif()

message(STATUS "MPI launcher: ${ullage_mpiexec}")

# Compiles layer mpi once more, as `target`.
function(ullage_mpi_layer_again target)
  get_target_property(mpi_sources engine-mpi SOURCES)
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${mpi_sources})
  foreach(property COMPILE_OPTIONS INCLUDE_DIRECTORIES LINK_LIBRARIES UNITY_BUILD UNITY_BUILD_BATCH_SIZE
          UNITY_BUILD_CODE_BEFORE_INCLUDE)
    get_target_property(value engine-mpi ${property})
    if(NOT value STREQUAL "value-NOTFOUND")
      set_property(TARGET ${target} PROPERTY ${property} "${value}")
    endif()
  endforeach()
endfunction()
