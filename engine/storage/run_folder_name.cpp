// SPDX-License-Identifier: Apache-2.0
#include "storage/run_folder_name.hpp"

#include <regex>

#include "storage/target_directory.hpp"

namespace ullage {

std::string folder_name(const std::string& run_id) { return "ullage-" + run_id; }

Result<SplitName> split_folder(const std::string& folder_path) {
  std::string trimmed = folder_path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  SplitName named = split_name(trimmed);
  if (named.parent.empty()) named.parent = trimmed.starts_with('/') ? "/" : ".";
  const std::string prefix = folder_name("");
  if (!named.base.starts_with(prefix) || named.base == prefix)
    return fail(environment_error(folder_path, "is not a folder of ullage (they are called ullage-RUN); refused"));
  return named;
}

bool is_named_by_front(const std::string& name) {
  static const std::regex form("ullage-[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}.*");
  return std::regex_match(name, form);
}

}  // namespace ullage
