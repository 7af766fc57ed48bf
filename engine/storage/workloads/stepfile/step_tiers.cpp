// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/step_tiers.hpp"

#include <cerrno>
#include <limits>

#include "base/count.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t tier_block_bytes = 4096;  // of most file systems

}  // namespace

StepTiers::StepTiers(const StorageContext& first, std::uint64_t states, std::uint64_t state_bytes) : states_(states) {
  const std::uint64_t each = round_up(state_bytes, tier_block_bytes);
  const bool counts = !first.spill.empty();
  tiers_.emplace_back(&first, counts ? first.room_bytes / each : std::numeric_limits<std::uint64_t>::max());
  for (const StorageContext& further : first.spill) tiers_.emplace_back(&further, further.room_bytes / each);
  if (counts) places_.resize(states);
}

Status StepTiers::check_room() const {
  std::uint64_t room = 0;
  for (const Tier& tier : tiers_) {
    if (tier.capacity >= states_) return {};
    room += tier.capacity;
  }
  if (room >= states_) return {};
  return fail(environment_error("targets", "have room for " + std::to_string(room) + " states of a rank, of " +
                                               std::to_string(states_) + "; fewer steps or smaller states fit"));
}

Result<std::size_t> StepTiers::take() {
  if (tiers_.size() == 1) return 0;
  for (std::size_t i = 0; i < tiers_.size(); ++i) {
    if (tiers_[i].full) continue;
    if (tiers_[i].used.fetch_add(1) < tiers_[i].capacity) return i;
    tiers_[i].used.fetch_sub(1);
  }
  return fail(errno_error(ENOSPC, "write", "all targets of the case"));
}

void StepTiers::filled(std::size_t tier) {
  tiers_[tier].full = true;
  tiers_[tier].used.fetch_sub(1);
}

bool found_no_room(const Error& error) noexcept {
  return error.kind == ErrorKind::io && (error.errno_value == ENOSPC || error.errno_value == EDQUOT);
}

}  // namespace ullage
