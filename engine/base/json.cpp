// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

template void nlohmann::basic_json<>::json_value::destroy(nlohmann::json::value_t);
template nlohmann::basic_json<>::basic_json(nlohmann::json::initializer_list_t, bool, nlohmann::json::value_t);
template nlohmann::basic_json<>::basic_json(const nlohmann::json&);

namespace ullage {
namespace {

Result<std::string> scalar_text(const Json& json, const std::string& pointer) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_boolean() || json.is_number()) return json_text(json);
  return fail(bad_plan(pointer, "must be a string, number, true or false"));
}

Result<Value> list_from(const Json& json, const std::string& pointer) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (!json[i].is_string()) return fail(bad_plan(pointer + "/" + std::to_string(i), "must be a string"));
    words.push_back(json[i].get<std::string>());
  }
  return Value{std::move(words)};
}

Result<Value> map_from(const Json& json, const std::string& pointer) {
  Map map;
  for (const auto& [key, member] : json.items()) {
    auto text = scalar_text(member, pointer + "/" + key);
    if (!text) return fail(text.error());
    map.emplace(key, std::move(*text));
  }
  return Value{std::move(map)};
}

}  // namespace

Json parse_json(std::string_view text) { return Json::parse(text, nullptr, false); }

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json to_json(const Value& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

Json to_json(const Values& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = to_json(value);
  return json;
}

Result<Value> value_from(const Json& json, const std::string& pointer) {
  if (json.is_boolean()) return Value{json.get<bool>()};
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return fail(bad_plan(pointer, "is too large, must be below 2^63"));
  if (json.is_number_integer()) return Value{json.get<std::int64_t>()};
  if (json.is_number_float()) return Value{json.get<double>()};
  if (json.is_string()) return Value{json.get<std::string>()};
  if (json.is_array()) return list_from(json, pointer);
  if (json.is_object()) return map_from(json, pointer);
  return fail(bad_plan(pointer, "must not be null"));
}

Result<Values> values_from(const Json& json, const std::string& pointer) {
  if (!json.is_object()) return fail(bad_plan(pointer, "must be an object"));
  Values values;
  for (const auto& [key, member] : json.items()) {
    auto value = value_from(member, pointer + "/" + key);
    if (!value) return fail(value.error());
    values.emplace(key, std::move(*value));
  }
  return values;
}

ObjectReader::ObjectReader(const Json& json, std::string pointer) : json_(&json), pointer_(std::move(pointer)) {
  if (!json.is_object()) mistake(bad_plan(pointer_.empty() ? "/" : pointer_, "must be an object"));
}

void ObjectReader::mistake(Error error) {
  if (!first_mistake_) first_mistake_ = std::move(error);
}

const Json* ObjectReader::member(const std::string& key) {
  known_.insert(key);
  if (!json_->is_object()) return nullptr;
  const auto it = json_->find(key);
  return it == json_->end() ? nullptr : &*it;
}

const Json* ObjectReader::required(const std::string& key) {
  const Json* found = member(key);
  if (found == nullptr) mistake(bad_plan(at(key), "is missing"));
  return found;
}

const Json* ObjectReader::array(const std::string& key) {
  const Json* found = required(key);
  if (found != nullptr && !found->is_array()) {
    mistake(bad_plan(at(key), "must be a list"));
    return nullptr;
  }
  return found;
}

std::string ObjectReader::text(const std::string& key) {
  const Json* found = required(key);
  if (found == nullptr) return {};
  if (!found->is_string()) {
    mistake(bad_plan(at(key), "must be a string"));
    return {};
  }
  return found->get<std::string>();
}

std::string ObjectReader::text(const std::string& key, const std::string& fallback) {
  return member(key) == nullptr ? fallback : text(key);
}

std::optional<std::int64_t> ObjectReader::checked_integer(const Json& json, const std::string& key,
                                                          std::int64_t minimum, std::int64_t maximum) {
  if (!json.is_number_integer()) {
    mistake(bad_plan(at(key), "must be an integer"));
    return std::nullopt;
  }
  const bool huge = json.is_number_unsigned() &&
                    json.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::int64_t value = huge ? 0 : json.get<std::int64_t>();
  if (huge || value < minimum || value > maximum) {
    mistake(bad_plan(at(key), "is " + json_text(json) + ", must be from " + std::to_string(minimum) + " to " +
                                  std::to_string(maximum)));
    return std::nullopt;
  }
  return value;
}

std::optional<double> ObjectReader::checked_number(const Json& json, const std::string& key, double minimum,
                                                   double maximum) {
  if (!json.is_number()) {
    mistake(bad_plan(at(key), "must be a number"));
    return std::nullopt;
  }
  const double value = json.get<double>();
  if (!(value >= minimum && value <= maximum)) {
    mistake(bad_plan(at(key), "is " + json_text(json) + ", must be from " + json_text(Json(minimum)) + " to " +
                                  json_text(Json(maximum))));
    return std::nullopt;
  }
  return value;
}

std::int64_t ObjectReader::integer(const std::string& key, std::int64_t minimum, std::int64_t maximum) {
  const Json* found = required(key);
  return found == nullptr ? minimum : checked_integer(*found, key, minimum, maximum).value_or(minimum);
}

std::int64_t ObjectReader::integer(const std::string& key, std::int64_t minimum, std::int64_t maximum,
                                   std::int64_t fallback) {
  return optional_integer(key, minimum, maximum).value_or(fallback);
}

std::optional<std::int64_t> ObjectReader::optional_integer(const std::string& key, std::int64_t minimum,
                                                           std::int64_t maximum) {
  const Json* found = member(key);
  if (found == nullptr || found->is_null()) return std::nullopt;
  return checked_integer(*found, key, minimum, maximum);
}

double ObjectReader::number(const std::string& key, double minimum, double maximum, double fallback) {
  return optional_number(key, minimum, maximum).value_or(fallback);
}

std::optional<double> ObjectReader::optional_number(const std::string& key, double minimum, double maximum) {
  const Json* found = member(key);
  if (found == nullptr || found->is_null()) return std::nullopt;
  return checked_number(*found, key, minimum, maximum);
}

bool ObjectReader::flag(const std::string& key, bool fallback) {
  const Json* found = member(key);
  if (found == nullptr) return fallback;
  if (!found->is_boolean()) {
    mistake(bad_plan(at(key), "must be true or false"));
    return fallback;
  }
  return found->get<bool>();
}

Status ObjectReader::finish() {
  if (!first_mistake_ && json_->is_object()) {
    for (const auto& [key, value] : json_->items())
      if (!known_.contains(key)) {
        mistake(bad_plan(at(key), "unknown key"));
        break;
      }
  }
  if (first_mistake_) return fail(*first_mistake_);
  return {};
}

}  // namespace ullage
