// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/tournament.hpp"

namespace ullage {

int tournament_rounds(int players) { return players % 2 == 0 ? players - 1 : players; }

int opponent_in_round(int players, int round, int player) {
  const int rounds = tournament_rounds(players);
  // Players 0 .. rounds-1 stand on a circle and meet where their numbers add up to the round's, modulo the circle. The
  // one who would meet himself meets the last player, who stands beside the circle if their number is even.
  const int beside = rounds;
  if (player == beside) {
    // rounds is odd, so 2 has the inverse (rounds + 1) / 2.
    return static_cast<int>(static_cast<long long>(round) * ((rounds + 1) / 2) % rounds);
  }
  const int other = ((round - player) % rounds + rounds) % rounds;
  if (other != player) return other;
  return players == beside ? no_opponent : beside;
}

}  // namespace ullage
