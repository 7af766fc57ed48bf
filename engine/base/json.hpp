// SPDX-License-Identifier: Apache-2.0
// The border to JSON: strict objects that know their pointer, and values both ways.
#pragma once

#include <nlohmann/json.hpp>
#include <set>

#include "base/parameters.hpp"
#include "base/std.hpp"

// What most files use is compiled in json.cpp. Compiling the whole class would take 5 s.
extern template void nlohmann::basic_json<>::json_value::destroy(nlohmann::json::value_t);
extern template nlohmann::basic_json<>::basic_json(nlohmann::json::initializer_list_t, bool, nlohmann::json::value_t);
extern template nlohmann::basic_json<>::basic_json(const nlohmann::json&);

namespace ullage {

using Json = nlohmann::json;

// Each file that calls nlohmann's own parse() or dump() compiles a parser or a writer of numbers and strings of its
// own; these two are compiled once.
/// Discarded (is_discarded()) when the text is not valid JSON.
[[nodiscard]] Json parse_json(std::string_view text);
/// On one line, or over several with `indent`. Host names, paths and error texts are bytes of any kind: what is not
/// UTF-8 is replaced.
[[nodiscard]] std::string json_text(const Json& json, int indent = -1);

[[nodiscard]] Json to_json(const Value& value);
[[nodiscard]] Json to_json(const Values& values);
/// bool, integer, float, string, list of strings or object of scalars (as text); anything else is a bad plan at
/// `pointer`.
[[nodiscard]] Result<Value> value_from(const Json& json, const std::string& pointer);
[[nodiscard]] Result<Values> values_from(const Json& json, const std::string& pointer);

/// Reads a JSON object member by member; the first mistake is kept, later reads do nothing; finish() also refuses
/// unknown keys.
class ObjectReader final {
 public:
  ObjectReader(const Json& json, std::string pointer);

  [[nodiscard]] std::string text(const std::string& key);
  [[nodiscard]] std::string text(const std::string& key, const std::string& fallback);
  [[nodiscard]] std::int64_t integer(const std::string& key, std::int64_t minimum, std::int64_t maximum);
  [[nodiscard]] std::int64_t integer(const std::string& key, std::int64_t minimum, std::int64_t maximum,
                                     std::int64_t fallback);
  [[nodiscard]] std::optional<std::int64_t> optional_integer(const std::string& key, std::int64_t minimum,
                                                             std::int64_t maximum);
  [[nodiscard]] double number(const std::string& key, double minimum, double maximum, double fallback);
  [[nodiscard]] std::optional<double> optional_number(const std::string& key, double minimum, double maximum);
  [[nodiscard]] bool flag(const std::string& key, bool fallback);
  /// Present member, or null when absent.
  [[nodiscard]] const Json* member(const std::string& key);
  /// Present member of type array; a mistake otherwise.
  [[nodiscard]] const Json* array(const std::string& key);

  [[nodiscard]] std::string at(const std::string& key) const { return pointer_ + "/" + key; }
  void mistake(Error error);
  [[nodiscard]] Status finish();

 private:
  [[nodiscard]] const Json* required(const std::string& key);
  std::optional<std::int64_t> checked_integer(const Json& json, const std::string& key, std::int64_t minimum,
                                              std::int64_t maximum);
  std::optional<double> checked_number(const Json& json, const std::string& key, double minimum, double maximum);

  const Json* json_;
  std::string pointer_;
  std::set<std::string> known_;
  std::optional<Error> first_mistake_;
};

}  // namespace ullage
