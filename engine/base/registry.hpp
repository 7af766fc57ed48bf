// SPDX-License-Identifier: Apache-2.0
// Self-registration: a new .cpp with one Registered object at namespace scope is found by describe, plans and docs.
// The sources are linked as objects, never through a static archive, which would drop them.
#pragma once

#include "base/parameters.hpp"
#include "base/std.hpp"

namespace ullage {

/// Holds what `describe` prints of anything registered.
struct Description {
  std::string name;
  std::string doc;
  std::vector<ParameterSpec> parameters = {};
  std::vector<std::string> capabilities = {};
  std::optional<std::string> (*missing)() = nullptr;  // see unavailable()

  /// Why it cannot be used here; nothing where it can. Found out when somebody asks: looking for a library takes time.
  [[nodiscard]] std::optional<std::string> unavailable() const { return missing == nullptr ? std::nullopt : missing(); }
};

/// Entry must have a member `description`. Its members are defined outside of it so that what is declared `extern
/// template` beside an entry is compiled once, not in each file that registers one.
template <class Entry>
class Registry final {
 public:
  static Registry& instance();
  void add(Entry entry);
  /// An entry that says what else is registered: made when somebody first asks for entries, which is after main()
  /// began.
  void add_later(Entry (*make)());
  [[nodiscard]] const Entry* find(std::string_view name);
  [[nodiscard]] const std::vector<Entry>& all();

 private:
  std::vector<Entry> entries_;
  std::vector<Entry (*)()> later_;
};

template <class Entry>
struct Registered final {
  explicit Registered(Entry entry);
  explicit Registered(Entry (*make)());
};

template <class Entry>
Registry<Entry>& Registry<Entry>::instance() {
  static Registry registry;
  return registry;
}

template <class Entry>
void Registry<Entry>::add(Entry entry) {
  const auto name_of = [](const Entry& e) -> const std::string& { return e.description.name; };
  const auto place = std::ranges::upper_bound(entries_, name_of(entry), {}, name_of);
  entries_.insert(place, std::move(entry));
}

template <class Entry>
void Registry<Entry>::add_later(Entry (*make)()) {
  later_.push_back(make);
}

template <class Entry>
const Entry* Registry<Entry>::find(std::string_view name) {
  const auto& entries = all();
  const auto it = std::ranges::find_if(entries, [&](const Entry& e) { return e.description.name == name; });
  return it == entries.end() ? nullptr : &*it;
}

template <class Entry>
const std::vector<Entry>& Registry<Entry>::all() {
  for (const auto make : std::exchange(later_, {})) add(make());
  return entries_;
}

template <class Entry>
Registered<Entry>::Registered(Entry entry) {
  Registry<Entry>::instance().add(std::move(entry));
}

template <class Entry>
Registered<Entry>::Registered(Entry (*make)()) {
  Registry<Entry>::instance().add_later(make);
}

}  // namespace ullage
