# SPDX-License-Identifier: Apache-2.0
# Target ullage::json: the nlohmann-json headers of the system, else those of the Python wheel in .venv.
file(GLOB json_wheel "${CMAKE_SOURCE_DIR}/.venv/lib/python3.*/site-packages/nlohmann_json/include")
find_path(ULLAGE_JSON_INCLUDE nlohmann/json.hpp HINTS ${json_wheel} DOC "Folder that holds nlohmann/json.hpp")
if(NOT ULLAGE_JSON_INCLUDE)
  message(FATAL_ERROR "nlohmann/json.hpp not found: `make setup` fetches it, or install nlohmann-json3-dev, "
    "or set ULLAGE_JSON_INCLUDE.")
endif()
add_library(ullage-json INTERFACE)
add_library(ullage::json ALIAS ullage-json)
target_include_directories(ullage-json SYSTEM INTERFACE "${ULLAGE_JSON_INCLUDE}")
