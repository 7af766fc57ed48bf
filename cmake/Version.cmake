# SPDX-License-Identifier: Apache-2.0
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../src/ullage/__init__.py" ullage_version REGEX "^__version__")
string(REGEX MATCH "[0-9]+(\\.[0-9]+)*" ullage_version "${ullage_version}")
