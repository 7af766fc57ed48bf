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
  std::vector<ParameterSpec> parameters = {};
  std::vector<std::string> capabilities = {};
  std::optional<std::string> unavailable = std::nullopt;  // the reason
};

/// Entry must have a member `description`.
template <class Entry>
class Registry final {
 public:
  static Registry& instance() {
    static Registry registry;
    return registry;
  }
  void add(Entry entry) {
    entries_.push_back(std::move(entry));
    std::ranges::sort(entries_, {}, [](const Entry& e) -> const std::string& { return e.description.name; });
  }
  /// An entry that says what else is registered: made when somebody first asks for entries, which is after main()
  /// began.
  void add_later(Entry (*make)()) { later_.push_back(make); }
  [[nodiscard]] const Entry* find(std::string_view name) {
    const auto& entries = all();
    const auto it = std::ranges::find_if(entries, [&](const Entry& e) { return e.description.name == name; });
    return it == entries.end() ? nullptr : &*it;
  }
  [[nodiscard]] const std::vector<Entry>& all() {
    for (const auto make : std::exchange(later_, {})) add(make());
    return entries_;
  }

 private:
  std::vector<Entry> entries_;
  std::vector<Entry (*)()> later_;
};

template <class Entry>
struct Registered final {
  explicit Registered(Entry entry) { Registry<Entry>::instance().add(std::move(entry)); }
  explicit Registered(Entry (*make)()) { Registry<Entry>::instance().add_later(make); }
};

}  // namespace ullage
