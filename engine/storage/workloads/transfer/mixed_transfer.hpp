// SPDX-License-Identifier: Apache-2.0
// The words of workload `mixed-transfer`.
#pragma once

#include <cstdint>
#include <string>

#include "base/parameters.hpp"
#include "storage/backend.hpp"
#include "storage/workloads/transfer/mixed_pattern.hpp"
#include "storage/workloads/transfer/parameters.hpp"

namespace ullage {

enum class MixedVerify { none, kept };

struct MixedTransferParameters {
  std::uint64_t transfer_bytes = 4096;
  std::uint64_t operations = 10'000;
  double read_share = 1;
  Pick pick = Pick::random;
  double zipf_theta = 1;
  std::uint64_t seed = 1;
  ReadBack read_back = ReadBack::own;
  int read_shift = 1;
  bool sync = true;
  double stonewall_s = 0;
  bool wear_out = false;
  double wear_out_limit_s = 0;
  CacheControl cache = CacheControl::advise;
  MixedVerify verify = MixedVerify::kept;

  [[nodiscard]] static const Table<MixedTransferParameters>& table();
  [[nodiscard]] bool reads() const { return read_share > 0; }
  [[nodiscard]] bool writes() const { return read_share < 1; }
};

/// Rules that span parameters and the backend; the pointer is that of the parameters object.
[[nodiscard]] Status check_mixed_transfer(const MixedTransferParameters& parameters, const Capabilities& capabilities,
                                          const std::string& pointer);

}  // namespace ullage
