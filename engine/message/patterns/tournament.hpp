// SPDX-License-Identifier: Apache-2.0
// A round robin: everybody meets everybody once, as many as can at the same time.
#pragma once

namespace ullage {

inline constexpr int no_opponent = -1;

/// n - 1 rounds of an even number of players >= 2; n rounds of an odd one, each of which sits out once.
[[nodiscard]] int tournament_rounds(int players);

/// Whom `player` meets in that round, or no_opponent. O(1); the circle method.
[[nodiscard]] int opponent_in_round(int players, int round, int player);

}  // namespace ullage
