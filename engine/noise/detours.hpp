// SPDX-License-Identifier: Apache-2.0
// Times in which a thread that does nothing but look at the clock does not get to do so.
#pragma once

#include <cstdint>
#include <vector>

namespace ullage {

/// Gaps longer than this are detours. Source of the method (selfish detour): Beckman, Iskra, Yoshii, Coghlan, "The
/// influence of operating systems on the performance of collective operations at extreme scale", Cluster 2006.
constexpr std::int64_t usual_detour_ns = 500;

/// Returns the same where looking at the clock takes so long that a few looks would be one.
[[nodiscard]] std::int64_t detour_from_ns(std::int64_t look_ns);

/// Returns how long a look at this machine's clock takes when nothing disturbs it: the fastest of many.
[[nodiscard]] std::int64_t time_of_a_look_ns();

/// Watches one thread: looks at the clock all the time and keeps the gaps that are longer than a look.
class DetourWatch final {
 public:
  DetourWatch(std::int64_t look_ns, std::int64_t most_ns);

  /// Looks at the clock, `look()` in ns, without a pause for `lasting_ns` <= most_ns. What was kept before is
  /// forgotten. Allocates nothing.
  template <class Look>
  void watch(std::int64_t lasting_ns, const Look& look) {
    detours_.clear();
    const std::int64_t begun = look();
    std::int64_t last = begun;
    while (last - begun < lasting_ns) {
      const std::int64_t now = look();
      if (now - last > from_ns_) detours_.push_back(now - last - look_ns_);
      last = now;
    }
    watched_ns_ = last - begun;
  }

  /// Returns how long each detour of the last watch took, without the look at the clock itself.
  [[nodiscard]] const std::vector<std::int64_t>& detours() const { return detours_; }
  [[nodiscard]] std::int64_t watched_ns() const { return watched_ns_; }

 private:
  std::int64_t look_ns_;
  std::int64_t from_ns_;
  std::int64_t watched_ns_ = 0;
  std::vector<std::int64_t> detours_;
};

}  // namespace ullage
