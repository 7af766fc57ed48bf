// SPDX-License-Identifier: Apache-2.0
// Parameters are data: one table a struct, from which they are parsed, checked, described and documented.
#pragma once

#include <functional>
#include <map>
#include <type_traits>
#include <variant>

#include "base/result.hpp"
#include "base/std.hpp"

namespace ullage {

enum class ParameterType { flag, count, bytes, seconds, rate, number, text, choice, choices, map };

using Map = std::map<std::string, std::string>;
/// flag: bool · count, bytes: int64 · seconds, rate, number: double · text, choice: string · choices: vector · map:
/// Map.
using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>, Map>;
/// A complete, checked set: every parameter of a table has its value, given or default.
using Values = std::map<std::string, Value>;

struct ParameterSpec {
  // Compiled in parameters.cpp, not in each file that has a table.
  ParameterSpec(std::string its_name, ParameterType its_type, std::string its_unit, Value its_default,
                std::optional<double> least, std::optional<double> most, std::vector<std::string> words,
                std::string its_doc);
  ParameterSpec(const ParameterSpec&);
  ParameterSpec(ParameterSpec&&) noexcept;
  ParameterSpec& operator=(const ParameterSpec&);
  ParameterSpec& operator=(ParameterSpec&&) noexcept;
  ~ParameterSpec();

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
/// Holds what is said of a parameter besides its default.
struct ParameterTraits {
  std::string_view name;
  ParameterType type = ParameterType::flag;
  std::string_view unit;
  std::string_view doc;
  std::optional<Bounds> bounds = std::nullopt;
};
/// `Stored` is what a Value holds of that type; compiled in parameters.cpp.
template <class Stored>
[[nodiscard]] ParameterSpec plain_spec(const ParameterTraits& traits, const Stored& default_value);
[[nodiscard]] ParameterSpec choice_spec(const ParameterTraits& traits, std::vector<std::string> words,
                                        std::string default_word);
[[nodiscard]] ParameterSpec choices_spec(const ParameterTraits& traits, std::vector<std::string> words,
                                         std::vector<std::string> default_words);
[[nodiscard]] const Value& value_at(const Values& values, const ParameterSpec& spec);

template <class P, class Stored, class M>
Field<P> plain(const ParameterTraits& traits, M P::* member) {
  return {plain_spec(traits, static_cast<Stored>(P{}.*member)),
          [member](P& p, const Value& v) { p.*member = static_cast<M>(std::get<Stored>(v)); }};
}
template <class E>
std::vector<std::string> words_of(const Words<E>& words) {
  std::vector<std::string> out;
  for (const auto& [value, word] : words) out.push_back(word);
  return out;
}
template <class E>
std::string word_of(const Words<E>& words, const E& value) {
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
Field<P> flag(std::string_view name, bool P::* member, std::string_view doc) {
  return detail::plain<P, bool>({name, ParameterType::flag, "", doc}, member);
}
template <class P, class M>
Field<P> count(std::string_view name, M P::* member, Bounds bounds, std::string_view doc) {
  return detail::plain<P, std::int64_t>({name, ParameterType::count, "", doc, bounds}, member);
}
template <class P>
Field<P> bytes(std::string_view name, std::uint64_t P::* member, Bounds bounds, std::string_view doc) {
  return detail::plain<P, std::int64_t>({name, ParameterType::bytes, "B", doc, bounds}, member);
}
template <class P>
Field<P> seconds(std::string_view name, double P::* member, Bounds bounds, std::string_view doc) {
  return detail::plain<P, double>({name, ParameterType::seconds, "s", doc, bounds}, member);
}
template <class P>
Field<P> rate(std::string_view name, double P::* member, Bounds bounds, std::string_view doc) {
  return detail::plain<P, double>({name, ParameterType::rate, "B/s", doc, bounds}, member);
}
template <class P>
Field<P> number(std::string_view name, double P::* member, Bounds bounds, std::string_view doc) {
  return detail::plain<P, double>({name, ParameterType::number, "", doc, bounds}, member);
}
template <class P>
Field<P> text(std::string_view name, std::string P::* member, std::string_view doc) {
  return detail::plain<P, std::string>({name, ParameterType::text, "", doc}, member);
}
template <class P>
Field<P> map(std::string_view name, Map P::* member, std::string_view doc) {
  return detail::plain<P, Map>({name, ParameterType::map, "", doc}, member);
}
template <class P, class E>
Field<P> choice(std::string_view name, E P::* member, const Words<E>& words, std::string_view doc) {
  return {detail::choice_spec({name, ParameterType::choice, "", doc}, detail::words_of(words),
                              detail::word_of(words, P{}.*member)),
          [member, words](P& p, const Value& v) { p.*member = detail::value_of(words, std::get<std::string>(v)); }};
}
template <class P, class E>
Field<P> choice(std::string_view name, E P::* member, std::string_view doc) {
  return choice(name, member, words_of(E{}), doc);
}
template <class P, class E>
Field<P> choices(std::string_view name, std::vector<E> P::* member, const Words<E>& words, std::string_view doc) {
  std::vector<std::string> defaults;
  const P initial{};
  for (const E value : initial.*member) defaults.push_back(detail::word_of(words, value));
  return {detail::choices_spec({name, ParameterType::choices, "", doc}, detail::words_of(words), std::move(defaults)),
          [member, words](P& p, const Value& v) {
            (p.*member).clear();
            for (const auto& word : std::get<std::vector<std::string>>(v))
              (p.*member).push_back(detail::value_of(words, word));
          }};
}

template <class P, class E>
Field<P> choices(std::string_view name, std::vector<E> P::* member, std::string_view doc) {
  return choices(name, member, words_of(E{}), doc);
}

/// The word of an enumerator whose type has a function `Words<E> words_of(E)` beside it, as choices without words want
/// it too. A function, since the tables are asked for while other files' statics are still being made.
template <class E>
  requires std::is_enum_v<E>
[[nodiscard]] std::string word_of(E value) {
  return detail::word_of(words_of(value), value);
}

/// The enumerator of a word; nothing where there is none.
template <class E>
[[nodiscard]] std::optional<E> enumerator_of(std::string_view word) {
  for (const auto& [value, candidate] : words_of(E{}))
    if (candidate == word) return value;
  return std::nullopt;
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
  for (const auto& field : table) field.set(p, detail::value_at(values, field.spec));
  return p;
}

/// Does the same for a P that has a static table().
template <class P>
P bind_parameters(const Values& values) {
  static const Table<P> fields = P::table();
  return bind_parameters(fields, values);
}

/// Checks one value against its spec: type, range, choices. `pointer` is the JSON pointer for the error.
[[nodiscard]] Status check_value(const ParameterSpec& spec, const Value& value, const std::string& pointer);
/// Fills defaults, refuses unknown names (with the nearest known one) and bad values.
[[nodiscard]] Result<Values> complete(const std::vector<ParameterSpec>& specs, const Values& given,
                                      const std::string& pointer);

[[nodiscard]] std::string type_name(ParameterType type);

}  // namespace ullage
