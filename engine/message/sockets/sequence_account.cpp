// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/sequence_account.hpp"

#include <algorithm>
#include <cmath>

namespace ullage {
namespace {

/// RFC 3550's gain.
constexpr double jitter_gain = 1.0 / 16;

}  // namespace

std::uint64_t SequenceAccount::Totals::lost_since(const Totals& before) const {
  const std::uint64_t expected = next - before.next;
  const std::uint64_t came = received - before.received - (duplicates - before.duplicates);
  // What was missing before and came since makes it less than none.
  return expected > came ? expected - came : 0;
}

void SequenceAccount::add_out_of_turn(std::uint64_t number) noexcept {
  if (number > totals_.next) {
    const std::uint64_t skipped = std::min(number - totals_.next, remembered);
    for (std::uint64_t i = 1; i <= skipped; ++i) clear(number - i);
    set(number);
    totals_.next = number + 1;
    return;
  }
  if (totals_.next - number <= remembered && has(number)) {
    ++totals_.duplicates;
    return;
  }
  if (totals_.next - number <= remembered) set(number);
  ++totals_.reordered;
}

void SequenceAccount::arrived(std::int64_t sent_ns, std::int64_t received_ns) noexcept {
  const std::int64_t transit = received_ns - sent_ns;
  if (has_transit_) {
    const auto change = static_cast<double>(std::abs(transit - last_transit_ns_));
    jitter_ns_ += (change - jitter_ns_) * jitter_gain;
  }
  last_transit_ns_ = transit;
  has_transit_ = true;
}

}  // namespace ullage
