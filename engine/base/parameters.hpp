// SPDX-License-Identifier: Apache-2.0
// Parameters are data: one table a struct, from which they are parsed, checked, described and documented.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace ullage {

enum class ParameterType { flag, count, bytes, seconds, rate, number, text, choice, choices, map };

using Map = std::map<std::string, std::string>;
/// flag: bool · count, bytes: int64 · seconds, rate, number: double · text, choice: string · choices: vector · map:
/// Map.
using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>, Map>;
/// A complete, checked set: every parameter of a table has its value, given or default.
using Values = std::map<std::string, Value>;

struct ParameterSpec {
  std::string name;
  ParameterType type = ParameterType::flag;
  std::string unit;
  Value default_value;
  std::optional<double> minimum;
  std::optional<double> maximum;
  std::vector<std::string> choices;
  std::string doc;
};

struct Bounds {
  double minimum = 0;
  double maximum = 9e15;  // below 2^53: exact in JSON
};

/// One entry of a parameter table of struct P.
template <class P>
struct Field {
  ParameterSpec spec;
  std::function<void(P&, const Value&)> set;
};

template <class E>
using Words = std::vector<std::pair<E, std::string>>;  // enumerator and its word

namespace detail {
template <class P, class Stored, class M>
Field<P> plain(ParameterSpec spec, M P::* member) {
  spec.default_value = static_cast<Stored>(P{}.*member);
  return {std::move(spec), [member](P& p, const Value& v) { p.*member = static_cast<M>(std::get<Stored>(v)); }};
}
template <class E>
std::vector<std::string> words_of(const Words<E>& words) {
  std::vector<std::string> out;
  for (const auto& [value, word] : words) out.push_back(word);
  return out;
}
template <class E>
std::string word_of(const Words<E>& words, E value) {
  for (const auto& [candidate, word] : words)
    if (candidate == value) return word;
  return {};
}
template <class E>
E value_of(const Words<E>& words, const std::string& word) {
  for (const auto& [value, candidate] : words)
    if (candidate == word) return value;
  return words.front().first;  // unreachable: checked against spec.choices before
}
}  // namespace detail

template <class P>
Field<P> flag(std::string name, bool P::* member, std::string doc) {
  return detail::plain<P, bool>({std::move(name), ParameterType::flag, "", {}, {}, {}, {}, std::move(doc)}, member);
}
template <class P, class M>
Field<P> count(std::string name, M P::* member, Bounds bounds, std::string doc) {
  return detail::plain<P, std::int64_t>(
      {std::move(name), ParameterType::count, "", {}, bounds.minimum, bounds.maximum, {}, std::move(doc)}, member);
}
template <class P>
Field<P> bytes(std::string name, std::uint64_t P::* member, Bounds bounds, std::string doc) {
  return detail::plain<P, std::int64_t>(
      {std::move(name), ParameterType::bytes, "B", {}, bounds.minimum, bounds.maximum, {}, std::move(doc)}, member);
}
template <class P>
Field<P> real(std::string name, ParameterType type, std::string unit, double P::* member, Bounds bounds,
              std::string doc) {
  return detail::plain<P, double>(
      {std::move(name), type, std::move(unit), {}, bounds.minimum, bounds.maximum, {}, std::move(doc)}, member);
}
template <class P>
Field<P> seconds(std::string name, double P::* member, Bounds bounds, std::string doc) {
  return real(std::move(name), ParameterType::seconds, "s", member, bounds, std::move(doc));
}
template <class P>
Field<P> rate(std::string name, double P::* member, Bounds bounds, std::string doc) {
  return real(std::move(name), ParameterType::rate, "B/s", member, bounds, std::move(doc));
}
template <class P>
Field<P> number(std::string name, double P::* member, Bounds bounds, std::string doc) {
  return real(std::move(name), ParameterType::number, "", member, bounds, std::move(doc));
}
template <class P>
Field<P> text(std::string name, std::string P::* member, std::string doc) {
  return detail::plain<P, std::string>({std::move(name), ParameterType::text, "", {}, {}, {}, {}, std::move(doc)},
                                       member);
}
template <class P>
Field<P> map(std::string name, Map P::* member, std::string doc) {
  return detail::plain<P, Map>({std::move(name), ParameterType::map, "", {}, {}, {}, {}, std::move(doc)}, member);
}
template <class P, class E>
Field<P> choice(std::string name, E P::* member, Words<E> words, std::string doc) {
  ParameterSpec spec{std::move(name),         ParameterType::choice, "", detail::word_of(words, P{}.*member), {}, {},
                     detail::words_of(words), std::move(doc)};
  return {std::move(spec), [member, words = std::move(words)](P& p, const Value& v) {
            p.*member = detail::value_of(words, std::get<std::string>(v));
          }};
}
template <class P, class E>
Field<P> choices(std::string name, std::vector<E> P::* member, Words<E> words, std::string doc) {
  std::vector<std::string> defaults;
  const P initial{};
  for (const E value : initial.*member) defaults.push_back(detail::word_of(words, value));
  ParameterSpec spec{std::move(name),         ParameterType::choices, "", std::move(defaults), {}, {},
                     detail::words_of(words), std::move(doc)};
  return {std::move(spec), [member, words = std::move(words)](P& p, const Value& v) {
            (p.*member).clear();
            for (const auto& word : std::get<std::vector<std::string>>(v))
              (p.*member).push_back(detail::value_of(words, word));
          }};
}

template <class P>
using Table = std::vector<Field<P>>;

/// The fields of P: its own and, from their own tables, those of the structs it derives from, in this order.
template <class P, class... Base>
Table<P> joined(Table<Base>... parts) {
  Table<P> fields;
  const auto take = [&fields](auto& part) {
    for (auto& field : part) fields.push_back({std::move(field.spec), std::move(field.set)});
  };
  (take(parts), ...);
  return fields;
}

template <class P>
std::vector<ParameterSpec> specs_of(const Table<P>& table) {
  std::vector<ParameterSpec> specs;
  for (const auto& field : table) specs.push_back(field.spec);
  return specs;
}

/// Values must be complete (see check_values in run/plan.hpp).
template <class P>
P bind_parameters(const Table<P>& table, const Values& values) {
  P p{};
  for (const auto& field : table) field.set(p, values.at(field.spec.name));
  return p;
}

/// The same of a P that has a static table().
template <class P>
P bind_parameters(const Values& values) {
  return bind_parameters(P::table(), values);
}

/// Checks one value against its spec: type, range, choices. `pointer` is the JSON pointer for the error.
[[nodiscard]] Status check_value(const ParameterSpec& spec, const Value& value, const std::string& pointer);
/// Fills defaults, refuses unknown names (with the nearest known one) and bad values.
[[nodiscard]] Result<Values> complete(const std::vector<ParameterSpec>& specs, const Values& given,
                                      const std::string& pointer);

[[nodiscard]] std::string type_name(ParameterType type);

}  // namespace ullage
