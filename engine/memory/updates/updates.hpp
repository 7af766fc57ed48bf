// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/resources.hpp"
#include "base/std.hpp"
#include "memory/pages.hpp"
#include "work/entry.hpp"
#include "work/windowed_phase.hpp"

namespace ullage {

struct UpdatesParameters : WindowParameters {
  std::uint64_t table_bytes = std::uint64_t{256} << 20U;
  Pages pages = Pages::system;

  [[nodiscard]] static Table<UpdatesParameters> table();
};

/// `pointer` is that of the parameters object.
[[nodiscard]] Status check_updates(const UpdatesParameters& parameters, const std::string& pointer);

/// The next number of HPC Challenge's RandomAccess: times x, with x^64 = x^2 + x + 1 over GF(2).
[[nodiscard]] constexpr std::uint64_t next_update(std::uint64_t number) {
  return (number << 1U) ^ ((number >> 63U) != 0 ? 7U : 0U);
}

/// The number `n` places after the first, 1, in that sequence, by repeated squaring. Source: HPC Challenge 1.5,
/// RandomAccess/utility.c, HPCC_starts.
[[nodiscard]] std::uint64_t update_start(std::uint64_t n);

/// After how many numbers the sequence repeats. Source: the same, PERIOD.
inline constexpr std::uint64_t update_period = 1317624576693539401ULL;

/// Sequences one thread works through side by side, as HPC Challenge does.
inline constexpr std::size_t update_lanes = 128;
using UpdateLanes = std::array<std::uint64_t, update_lanes>;

/// Returns where the lanes of thread `thread` of `threads` begin: evenly spread over the period.
[[nodiscard]] UpdateLanes update_lanes_of(std::uint64_t thread, std::uint64_t threads);

/// Takes every lane `rounds` numbers further and updates the table, whose length is a power of two, with each.
void update_table(std::span<std::uint64_t> table, UpdateLanes& lanes, std::uint64_t rounds);

inline constexpr std::uint64_t table_element = sizeof(std::uint64_t);
inline constexpr double share_that_may_be_wrong = 0.01;

/// All threads update one table at random places, without locks, so that a few updates get lost. A pass is
/// `rounds_a_pass` rounds of each thread.
class UpdatesKernel final : public WindowedKernel {
 public:
  static constexpr std::uint64_t rounds_a_pass = 8;

  /// `ranks_on_node` share its memory.
  UpdatesKernel(const UpdatesParameters& parameters, int ranks_on_node)
      : parameters_(parameters), shares_(static_cast<std::size_t>(parameters.threads)) {
    ready_ = check_room("table_bytes", Count(parameters.table_bytes) * static_cast<std::uint64_t>(ranks_on_node));
    if (!ready_) return;
    auto region = Region::map(parameters.table_bytes, parameters.pages);
    if (region)
      region_ = std::move(*region);
    else
      ready_ = fail(region.error());
  }

  [[nodiscard]] Status make_ready(std::size_t thread) override {
    if (!ready_) return ready_;
    const std::span<std::uint64_t> table = elements();
    const std::uint64_t first = table.size() * thread / shares_.size();
    const std::uint64_t last = table.size() * (thread + 1) / shares_.size();
    if (auto touched = region_->touch(std::as_writable_bytes(table.subspan(first, last - first))); !touched)
      return touched;
    for (std::uint64_t i = first; i < last; ++i) table[i] = i;
    shares_[thread].lanes = update_lanes_of(thread, shares_.size());
    return {};
  }

  void run(std::size_t thread, std::uint64_t passes) override {
    Share& share = shares_[thread];
    update_table(elements(), share.lanes, passes * rounds_a_pass);
    share.rounds += passes * rounds_a_pass;
  }

  /// Does all updates again by one thread, which undoes them: at most one element in a hundred may then be wrong.
  [[nodiscard]] Status check() override {
    const std::span<std::uint64_t> table = elements();
    for (std::size_t thread = 0; thread < shares_.size(); ++thread) {
      UpdateLanes lanes = update_lanes_of(thread, shares_.size());
      update_table(table, lanes, shares_[thread].rounds);
    }
    errors_ = 0;
    for (std::uint64_t i = 0; i < table.size(); ++i) errors_ += table[i] != i ? 1 : 0;
    if (static_cast<double>(errors_) <= share_that_may_be_wrong * static_cast<double>(table.size())) return {};
    return fail(verification_error("check", "table",
                                   std::to_string(errors_) + " of " + std::to_string(table.size()) +
                                       " elements are wrong, but at most 1 % may be"));
  }

  void report(const WindowTotals& totals, Gauges& gauges) const override {
    gauges["updates"] = totals.all_passes() * static_cast<double>(rounds_a_pass * update_lanes);
    gauges["errors"] = static_cast<double>(errors_);
    gauges["huge_bytes"] = region_ ? static_cast<double>(region_->huge_bytes()) : 0;
  }

  [[nodiscard]] std::span<std::uint64_t> elements() const {
    return {reinterpret_cast<std::uint64_t*>(region_->bytes().data()), parameters_.table_bytes / table_element};
  }

 private:
  struct alignas(128) Share {  // apart, since each is written by its own thread
    UpdateLanes lanes{};
    std::uint64_t rounds = 0;
  };

  UpdatesParameters parameters_;
  Status ready_;
  std::optional<Region> region_;
  std::vector<Share> shares_;
  std::uint64_t errors_ = 0;
};

}  // namespace ullage
