// SPDX-License-Identifier: Apache-2.0
#include "storage/side_files.hpp"

#include <algorithm>

namespace ullage {
namespace {

bool is_number(std::string_view text) {
  constexpr std::size_t most_digits = 20;
  return !text.empty() && text.size() <= most_digits &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Takes the last `separator` and the number behind it off the end.
bool take_number(std::string_view& text, std::string_view separator) {
  const std::size_t at = text.rfind(separator);
  if (at == std::string_view::npos || !is_number(text.substr(at + separator.size()))) return false;
  text = text.substr(0, at);
  return true;
}

bool take_ending(std::string_view& text, std::string_view ending) {
  if (!text.ends_with(ending)) return false;
  text.remove_suffix(ending.size());
  return true;
}

bool take_romio(std::string_view& name) {
  if (!name.starts_with('.')) return false;
  name.remove_prefix(1);
  if (take_number(name, ".shfp.")) return true;
  return take_number(name, ".") && take_number(name, ".shfp.");
}

bool take_lock(std::string_view& name) {
  return take_ending(name, ".lock") && take_number(name, "-") && take_number(name, "-");
}

bool take_individual(std::string_view& name) {
  return take_number(name, ".data.") || take_number(name, ".metadata.") || take_number(name, ".locktest.");
}

}  // namespace

std::optional<std::string_view> file_beside(std::string_view name) {
  for (const auto take : {take_romio, take_lock, take_individual}) {
    std::string_view file = name;
    if (take(file) && !file.empty()) return file;
  }
  return std::nullopt;
}

}  // namespace ullage
