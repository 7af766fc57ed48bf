// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace ullage {

/// Knows for how long nothing has changed, by looks at it. A look counts half a second at most: where the machine stood
/// still as a whole, whoever looks did not look either.
class StallTimer final {
 public:
  std::int64_t look(bool has_changed, std::int64_t now_ns) noexcept {
    constexpr std::int64_t longest_look_ns = 500'000'000;
    lasted_ns_ = has_changed || looked_ns_ == 0 ? 0 : lasted_ns_ + std::min(now_ns - looked_ns_, longest_look_ns);
    looked_ns_ = now_ns;
    return lasted_ns_;
  }

 private:
  std::int64_t looked_ns_ = 0;
  std::int64_t lasted_ns_ = 0;
};

}  // namespace ullage
