# SPDX-License-Identifier: Apache-2.0
# cmake -Dsource= -Dheader= -Dversion= -Dcompiler= -Dflags= -Dmpiexec= -P: writes the header when it changes.
set(git "unknown")
find_program(git_program git)
if(git_program AND EXISTS "${source}/.git")
  execute_process(COMMAND "${git_program}" -C "${source}" describe --always --dirty --tags
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(git "${described}")
  endif()
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/build_info.hpp.in" "${header}" @ONLY)
