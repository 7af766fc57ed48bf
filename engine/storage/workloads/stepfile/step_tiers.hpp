// SPDX-License-Identifier: Apache-2.0
// Which of a case's targets holds which state of a rank.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/result.hpp"
#include "storage/storage_context.hpp"

namespace ullage {

/// A state goes to the first target that has room for it: as many states as the limits of the run allow, or until the
/// target is full. With a single target everything is there, and nobody counts. Several threads may ask for room and
/// enter places at once, each its own places.
class StepTiers final {
 public:
  /// `states`: that this rank keeps, each of `state_bytes`.
  StepTiers(const StorageContext& first, std::uint64_t states, std::uint64_t state_bytes);

  [[nodiscard]] std::size_t size() const noexcept { return tiers_.size(); }
  [[nodiscard]] const StorageContext& at(std::size_t tier) const { return *tiers_[tier].context; }
  /// Returns where a place is; of one that nobody has entered, the first target.
  [[nodiscard]] const StorageContext& of(std::uint64_t place) const { return at(tier_of(place)); }
  [[nodiscard]] std::size_t tier_of(std::uint64_t place) const { return tiers_.size() == 1 ? 0 : places_[place]; }

  /// An error where all targets together have no room for the states of this rank.
  [[nodiscard]] Status check_room() const;
  /// The target for one more state.
  [[nodiscard]] Result<std::size_t> take();
  /// Nothing more goes there; what was taken for the state that found no room is given back.
  void filled(std::size_t tier);
  void enter(std::uint64_t place, std::size_t tier) {
    if (tiers_.size() > 1) places_[place] = static_cast<std::uint8_t>(tier);
  }

 private:
  struct Tier {
    Tier(const StorageContext* bound, std::uint64_t most) : context(bound), capacity(most) {}
    const StorageContext* context;
    std::uint64_t capacity;              // states that the limits allow
    std::atomic<std::uint64_t> used{0};  // threads of the rank add to it
    std::atomic<bool> full{false};       // any thread says so
  };
  std::deque<Tier> tiers_;
  std::vector<std::uint8_t> places_;  // each byte is of one place, which one thread writes
  std::uint64_t states_;
};

/// Returns whether the call failed because its target has no more room.
[[nodiscard]] bool found_no_room(const Error& error) noexcept;

}  // namespace ullage
