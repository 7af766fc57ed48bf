// SPDX-License-Identifier: Apache-2.0
#include "noise/quantum_account.hpp"

#include <algorithm>

namespace ullage {
namespace {

/// Mean of the two in the middle.
double middle(std::array<std::int64_t, pieces_a_quantum>& pieces) {
  static_assert(pieces_a_quantum % 2 == 0);
  const auto upper = pieces.begin() + pieces_a_quantum / 2;
  std::nth_element(pieces.begin(), upper, pieces.end());
  const std::int64_t lower = *std::max_element(pieces.begin(), upper);
  return static_cast<double>(lower + *upper) / 2;
}

double share(double part, double whole) { return whole > 0 ? std::max(0.0, part / whole) : 0; }

}  // namespace

void QuantumAccount::add(QuantumStamps stamps) {
  std::array<std::int64_t, pieces_a_quantum> pieces{};
  for (std::size_t piece = 0; piece < pieces.size(); ++piece) pieces[piece] = stamps[piece + 1] - stamps[piece];
  histogram_.add(stamps.back() - stamps.front());
  undisturbed_ns_ += middle(pieces) * pieces_a_quantum;
}

void QuantumAccount::merge(const QuantumAccount& other) {
  histogram_.merge(other.histogram_);
  undisturbed_ns_ += other.undisturbed_ns_;
}

double QuantumAccount::noise_share() const { return share(total_ns() - undisturbed_ns_, total_ns()); }

double QuantumAccount::turbo_share() const {
  const double shortest = static_cast<double>(histogram_.min_ns()) * static_cast<double>(count());
  return share(total_ns() - shortest, total_ns());
}

}  // namespace ullage
