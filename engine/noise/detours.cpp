// SPDX-License-Identifier: Apache-2.0
#include "noise/detours.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace ullage {
namespace {

constexpr std::int64_t looks_a_detour = 10;
constexpr int looks = 2000;

}  // namespace

std::int64_t detour_from_ns(std::int64_t look_ns) { return std::max(usual_detour_ns, looks_a_detour * look_ns); }

std::int64_t time_of_a_look_ns() {
  std::int64_t shortest = usual_detour_ns * looks_a_detour;
  std::int64_t last = now_ns();
  for (int i = 0; i < looks; ++i) {
    const std::int64_t now = now_ns();
    shortest = std::min(shortest, now - last);
    last = now;
  }
  return shortest;
}

DetourWatch::DetourWatch(std::int64_t look_ns, std::int64_t most_ns)
    : look_ns_(look_ns), from_ns_(detour_from_ns(look_ns)) {
  // Touched here: a page's first fault would be a detour of our own making.
  detours_.assign(static_cast<std::size_t>(most_ns / from_ns_) + 1, 0);
  detours_.clear();
}

}  // namespace ullage
