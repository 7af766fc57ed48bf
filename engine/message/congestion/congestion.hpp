// SPDX-License-Identifier: Apache-2.0
// What ranks that fill the network do to the messages of others: the same test alone and beside them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "message/congestion/load.hpp"
#include "message/congestion/work.hpp"
#include "mpi/mailbox.hpp"
#include "work/workload.hpp"

namespace ullage {

struct CongestionParameters {
  LoadKind load = LoadKind::incast;
  std::uint64_t load_bytes = 4096;
  double victim_share = 0.2;
  std::uint64_t seed = 1;
  std::uint64_t rings = 30;
  double test_s = 0.2;
  std::uint64_t message_bytes = 8;
  std::uint64_t bulk_bytes = 131072;
  std::uint64_t outstanding = 8;

  [[nodiscard]] static Table<CongestionParameters> table();
};

[[nodiscard]] Status check_congestion(const CongestionParameters& parameters, int ranks, const std::string& pointer);

enum class CongestionTest { latency, bandwidth, allreduce };

/// Knows who is who; what all phases of a repetition share. Collective to make and to end.
struct CongestionSetup {
  CongestionSetup(const mpi::World& world, std::vector<int> chosen);
  std::vector<int> victims;  // rising
  bool is_victim;
  mpi::Comm mine;  // the victims, or the others
  mpi::Mailbox mailbox;
  mpi::Mailbox relay;  // among `mine`
  int first_other;
};

}  // namespace ullage
