// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <system_error>

#include "base/parameters.hpp"
#include "base/std.hpp"

namespace ullage {

inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

inline std::optional<Value> map_from(const std::string& text) {
  Map map;
  for (const auto& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == 0 || equals == std::string::npos) return std::nullopt;
    map[part.substr(0, equals)] = part.substr(equals + 1);
  }
  return map;
}

template <class Number>
std::optional<Number> number_from(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return number;
}

template <class Number>
std::optional<Value> number_value(const std::string& text) {
  const auto number = number_from<Number>(text);
  return number ? std::optional<Value>(*number) : std::nullopt;
}

inline std::optional<Value> value_of(ParameterType type, const std::string& text) {
  switch (type) {
    case ParameterType::flag:
      return text == "true" || text == "false" ? std::optional<Value>(text == "true") : std::nullopt;
    case ParameterType::count:
    case ParameterType::bytes:
      return number_value<std::int64_t>(text);
    case ParameterType::seconds:
    case ParameterType::rate:
    case ParameterType::number:
      return number_value<double>(text);
    case ParameterType::text:
    case ParameterType::choice:
      return text;
    case ParameterType::choices:
      return split(text, ',');
    case ParameterType::map:
      return map_from(text);
  }
  return std::nullopt;
}

/// Parameters that stand as text inside a map: true or false, numbers in the parameter's own unit, words, lists with
/// commas, maps as name=value with commas. Unknown names are passed on as text for `complete` to refuse. `pointer` is
/// the map's.
[[nodiscard]] inline Result<Values> values_from_text(const std::vector<ParameterSpec>& specs, const Map& texts,
                                                     const std::string& pointer) {
  Values values;
  for (const auto& [name, text] : texts) {
    const auto spec = std::ranges::find(specs, name, &ParameterSpec::name);
    const auto value = spec == specs.end() ? std::optional<Value>(text) : value_of(spec->type, text);
    if (!value) return fail(bad_plan(pointer + "/" + name, "is '" + text + "', must be a " + type_name(spec->type)));
    values.emplace(name, *value);
  }
  return values;
}

}  // namespace ullage
