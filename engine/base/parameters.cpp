// SPDX-License-Identifier: Apache-2.0
#include "base/parameters.hpp"

#include <cmath>
#include <numeric>

namespace ullage {
namespace {

/// Levenshtein distance, for "did you mean".
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
    }
  }
  return row[b.size()];
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

struct TypeFacts {
  const char* name;
  const char* form;  // of a value, as errors say it
  std::size_t held;  // the alternative of Value
};

constexpr std::array<TypeFacts, 10> type_facts{{{"flag", "true or false", 0},
                                                {"count", "an integer", 1},
                                                {"bytes", "an integer number of bytes", 1},
                                                {"seconds", "a number of seconds", 2},
                                                {"rate", "a number of bytes per second", 2},
                                                {"number", "a number", 2},
                                                {"text", "a string", 3},
                                                {"choice", "a word", 3},
                                                {"choices", "a list of words", 4},
                                                {"map", "an object of strings", 5}}};

const TypeFacts& facts_of(ParameterType type) { return type_facts.at(static_cast<std::size_t>(type)); }

std::string number_text(double value) {
  if (value == std::floor(value) && std::fabs(value) < 9e15) return std::to_string(static_cast<std::int64_t>(value));
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

Status check_range(const ParameterSpec& spec, double value, const std::string& pointer) {
  const bool low = spec.minimum && value < *spec.minimum;
  const bool high = spec.maximum && value > *spec.maximum;
  if (!std::isfinite(value) || low || high)
    return fail(bad_plan(pointer, "is " + number_text(value) + ", must be from " +
                                      number_text(spec.minimum.value_or(0)) + " to " +
                                      number_text(spec.maximum.value_or(9e15))));
  return {};
}

Status check_word(const ParameterSpec& spec, const std::string& word, const std::string& pointer) {
  if (std::ranges::find(spec.choices, word) == spec.choices.end())
    return fail(bad_plan(pointer, "is '" + word + "', must be one of " + joined(spec.choices)));
  return {};
}

Value coerced(const ParameterSpec& spec, const Value& value) {
  const bool wants_real =
      spec.type == ParameterType::seconds || spec.type == ParameterType::rate || spec.type == ParameterType::number;
  if (wants_real && std::holds_alternative<std::int64_t>(value))
    return static_cast<double>(std::get<std::int64_t>(value));
  const bool empty_list =
      std::holds_alternative<std::vector<std::string>>(value) && std::get<std::vector<std::string>>(value).empty();
  if (spec.type == ParameterType::map && empty_list) return Map{};
  return value;
}

/// A list of words, where none is what is meant by default.
bool may_be_empty(const ParameterSpec& spec) {
  const auto* usual = std::get_if<std::vector<std::string>>(&spec.default_value);
  return usual != nullptr && usual->empty();
}

}  // namespace

ParameterSpec::ParameterSpec(std::string its_name, ParameterType its_type, std::string its_unit, Value its_default,
                             std::optional<double> least, std::optional<double> most, std::vector<std::string> words,
                             std::string its_doc)
    : name(std::move(its_name)),
      type(its_type),
      unit(std::move(its_unit)),
      default_value(std::move(its_default)),
      minimum(least),
      maximum(most),
      choices(std::move(words)),
      doc(std::move(its_doc)) {}
ParameterSpec::ParameterSpec(const ParameterSpec&) = default;
ParameterSpec::ParameterSpec(ParameterSpec&&) noexcept = default;
ParameterSpec& ParameterSpec::operator=(const ParameterSpec&) = default;
ParameterSpec& ParameterSpec::operator=(ParameterSpec&&) noexcept = default;
ParameterSpec::~ParameterSpec() = default;

namespace detail {

template <class Stored>
ParameterSpec plain_spec(const ParameterTraits& traits, const Stored& default_value) {
  std::optional<double> minimum;
  std::optional<double> maximum;
  if (traits.bounds) {
    minimum = traits.bounds->minimum;
    maximum = traits.bounds->maximum;
  }
  return {std::string(traits.name), traits.type, std::string(traits.unit), default_value, minimum, maximum, {},
          std::string(traits.doc)};
}
template ParameterSpec plain_spec(const ParameterTraits&, const bool&);
template ParameterSpec plain_spec(const ParameterTraits&, const std::int64_t&);
template ParameterSpec plain_spec(const ParameterTraits&, const double&);
template ParameterSpec plain_spec(const ParameterTraits&, const std::string&);
template ParameterSpec plain_spec(const ParameterTraits&, const Map&);

ParameterSpec choice_spec(const ParameterTraits& traits, std::vector<std::string> words, std::string default_word) {
  ParameterSpec spec = plain_spec(traits, std::string());
  spec.default_value = std::move(default_word);
  spec.choices = std::move(words);
  return spec;
}

ParameterSpec choices_spec(const ParameterTraits& traits, std::vector<std::string> words,
                           std::vector<std::string> default_words) {
  ParameterSpec spec = plain_spec(traits, std::string());
  spec.default_value = std::move(default_words);
  spec.choices = std::move(words);
  return spec;
}

const Value& value_at(const Values& values, const ParameterSpec& spec) { return values.at(spec.name); }

}  // namespace detail

std::string type_name(ParameterType type) { return facts_of(type).name; }

Status check_value(const ParameterSpec& spec, const Value& value, const std::string& pointer) {
  const TypeFacts& facts = facts_of(spec.type);
  if (value.index() != facts.held) return fail(bad_plan(pointer, std::string("must be ") + facts.form));
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return check_range(spec, static_cast<double>(*integer), pointer);
  if (const auto* real = std::get_if<double>(&value)) return check_range(spec, *real, pointer);
  if (spec.type == ParameterType::choice) return check_word(spec, std::get<std::string>(value), pointer);
  if (const auto* words = std::get_if<std::vector<std::string>>(&value)) {
    if (words->empty() && !may_be_empty(spec))
      return fail(bad_plan(pointer, "is empty, must name at least one of " + joined(spec.choices)));
    for (std::size_t i = 0; i < words->size(); ++i)
      if (auto status = check_word(spec, (*words)[i], pointer + "/" + std::to_string(i)); !status) return status;
  }
  return {};
}

Result<Values> complete(const std::vector<ParameterSpec>& specs, const Values& given, const std::string& pointer) {
  for (const auto& [name, value] : given) {
    if (std::ranges::find(specs, name, &ParameterSpec::name) != specs.end()) continue;
    if (specs.empty()) return fail(bad_plan(pointer + "/" + name, "unknown parameter; none is taken here"));
    const auto nearest =
        std::ranges::min(specs, {}, [&](const ParameterSpec& s) { return edit_distance(name, s.name); });
    return fail(bad_plan(pointer + "/" + name, "unknown parameter; did you mean '" + nearest.name + "'?"));
  }
  Values values;
  for (const auto& spec : specs) {
    const auto found = given.find(spec.name);
    Value value = found == given.end() ? spec.default_value : coerced(spec, found->second);
    if (auto status = check_value(spec, value, pointer + "/" + spec.name); !status) return fail(status.error());
    values.emplace(spec.name, std::move(value));
  }
  return values;
}

}  // namespace ullage
