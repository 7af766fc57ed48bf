// SPDX-License-Identifier: Apache-2.0
// Self-registration: a new .cpp with one Registered object at namespace scope is found by describe, plans and docs.
// The sources are linked as objects, never through a static archive, which would drop them.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parameters.hpp"

namespace ullage {

/// What `describe` prints of anything registered.
struct Description {
  std::string name;
  std::string doc;
  std::vector<ParameterSpec> parameters;
  std::vector<std::string> capabilities;
  std::optional<std::string> unavailable;  // the reason
};

/// Entry must have a member `description`. Its members are defined outside of it so that what is declared `extern
/// template` beside an entry is compiled once, not in each file that registers one.
template <class Entry>
class Registry final {
 public:
  static Registry& instance();
  void add(Entry entry);
  [[nodiscard]] const Entry* find(std::string_view name) const;
  [[nodiscard]] const std::vector<Entry>& all() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

template <class Entry>
struct Registered final {
  explicit Registered(Entry entry);
};

template <class Entry>
Registry<Entry>& Registry<Entry>::instance() {
  static Registry registry;
  return registry;
}

template <class Entry>
void Registry<Entry>::add(Entry entry) {
  entries_.push_back(std::move(entry));
  std::ranges::sort(entries_, {}, [](const Entry& e) -> const std::string& { return e.description.name; });
}

template <class Entry>
const Entry* Registry<Entry>::find(std::string_view name) const {
  const auto it = std::ranges::find_if(entries_, [&](const Entry& e) { return e.description.name == name; });
  return it == entries_.end() ? nullptr : &*it;
}

template <class Entry>
Registered<Entry>::Registered(Entry entry) {
  Registry<Entry>::instance().add(std::move(entry));
}

}  // namespace ullage
