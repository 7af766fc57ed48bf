// SPDX-License-Identifier: Apache-2.0
#include "noise/quantum_account.hpp"

#include <gtest/gtest.h>

namespace ullage::quantum_account_test {
namespace {

using Stamps = std::array<std::int64_t, pieces_a_quantum + 1>;

/// A quantum whose pieces take `piece_ns`, and `extra_ns` more in the one numbered `hit`.
Stamps quantum(std::int64_t piece_ns, std::size_t hit = 0, std::int64_t extra_ns = 0) {
  Stamps stamps{1000};
  for (std::size_t piece = 0; piece < pieces_a_quantum; ++piece)
    stamps[piece + 1] = stamps[piece] + piece_ns + (piece == hit ? extra_ns : 0);
  return stamps;
}

TEST(QuantumAccount, SteadyWorkHasNoNoise) {
  QuantumAccount account;
  for (int i = 0; i < 100; ++i) account.add(quantum(6250));
  EXPECT_EQ(account.count(), 100U);
  EXPECT_EQ(account.noise_share(), 0);
  EXPECT_EQ(account.turbo_share(), 0);
  EXPECT_EQ(account.histogram().max_ns(), 100'000U);
}

TEST(QuantumAccount, ClockThatFallsIsNoNoise) {
  QuantumAccount account;
  for (int i = 0; i < 50; ++i) account.add(quantum(5500));
  for (int i = 0; i < 50; ++i) account.add(quantum(6250));
  EXPECT_EQ(account.noise_share(), 0);
  EXPECT_NEAR(account.turbo_share(), 1 - 2 * 5500.0 / (5500 + 6250), 1e-9);
}

TEST(QuantumAccount, InterruptionIsNoiseWhereverItLies) {
  for (std::size_t hit = 0; hit < pieces_a_quantum; ++hit) {
    QuantumAccount account;
    account.add(quantum(6250, hit, 25'000));
    for (int i = 0; i < 3; ++i) account.add(quantum(6250));
    EXPECT_NEAR(account.noise_share(), 25.0 / 425, 1e-9);
    EXPECT_NEAR(account.turbo_share(), account.noise_share(), 1e-9);
  }
}

TEST(QuantumAccount, BothAreToldApart) {
  QuantumAccount account;
  account.add(quantum(5000, 3, 20'000));  // 80 + 20 us
  account.add(quantum(6250));             // 100 us
  EXPECT_NEAR(account.noise_share(), 20.0 / 200, 1e-9);
  EXPECT_EQ(account.turbo_share(), 0);  // by their length alone both are the same
}

TEST(QuantumAccount, ShortInterruptionOfSevenPiecesIsStillNoise) {
  Stamps stamps = quantum(6250);
  for (std::size_t piece = 0; piece < 7; ++piece)
    for (std::size_t later = piece + 1; later < stamps.size(); ++later) stamps[later] += 1000;
  QuantumAccount account;
  account.add(stamps);
  EXPECT_NEAR(account.noise_share(), 7.0 / 107, 1e-9);
}

TEST(QuantumAccount, ThreadsAddUp) {
  QuantumAccount quiet;
  QuantumAccount noisy;
  quiet.add(quantum(6250));
  noisy.add(quantum(6250, 9, 100'000));
  noisy.merge(quiet);
  EXPECT_EQ(noisy.count(), 2U);
  EXPECT_NEAR(noisy.noise_share(), 100.0 / 300, 1e-9);
}

TEST(QuantumAccount, NothingIsNoNoise) {
  EXPECT_EQ(QuantumAccount().noise_share(), 0);
  EXPECT_EQ(QuantumAccount().turbo_share(), 0);
}

}  // namespace
}  // namespace ullage::quantum_account_test
