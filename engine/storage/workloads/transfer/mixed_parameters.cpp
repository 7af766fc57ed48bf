// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/mixed_parameters.hpp"
#include "storage/backend.hpp"

#include <unistd.h>

#include <cmath>

namespace ullage {
namespace {

// Functions, since the tables are asked for while other files' statics are still being made.
const Words<Pick>& pick_words() {
  static const Words<Pick> words{{Pick::random, "random"}, {Pick::permutation, "permutation"}, {Pick::zipf, "zipf"}};
  return words;
}
const Words<CacheControl>& mixed_cache_words() {
  static const Words<CacheControl> words{
      {CacheControl::none, "none"}, {CacheControl::advise, "advise"}, {CacheControl::drop, "drop"}};
  return words;
}
const Words<MixedVerify>& mixed_verify_words() {
  static const Words<MixedVerify> words{{MixedVerify::none, "none"}, {MixedVerify::kept, "kept"}};
  return words;
}

Table<MixedTransferParameters> pattern() {
  using P = MixedTransferParameters;
  return {
      bytes("transfer_bytes", &P::transfer_bytes, {8, 1e15},
            "Move this many bytes in one call: the size in which the dataset was written, or a smaller multiple of "
            "512."),
      count("operations", &P::operations, {1, 1e12}, "Perform this many operations on each rank."),
      number("read_share", &P::read_share, {0, 1},
             "Make this share of the operations reads, in steps of 0.001, exact in each 1000. The other operations "
             "write the data that is already there, so that the dataset does not change."),
      choice("pick", &P::pick, pick_words(),
             "Choose the next position: any at random, each once before any repeats, or some much more often than "
             "others (Zipf)."),
      number("zipf_theta", &P::zipf_theta, {0, 10},
             "With pick zipf, visit the k-th most frequent position in proportion to k to the power of minus this "
             "number."),
      count("seed", &P::seed, {0, 9e15}, "Set the seed of the positions and of the order of reads and writes."),
      choice("read_back", &P::read_back, read_back_words(),
             "Choose whose data a rank works on, by where the ranks really run."),
      count("read_shift", &P::read_shift, {1, 1e6}, "Take the data of the rank or node this many places further."),
  };
}

Table<MixedTransferParameters> mixed_conditions() {
  using P = MixedTransferParameters;
  return {
      flag("sync", &P::sync, "Call fsync before close, where anything is written."),
      seconds("stonewall_s", &P::stonewall_s, {0, 1e7},
              "Begin no operation after this many seconds; 0 means no limit."),
      flag("wear_out", &P::wear_out,
           "After the stonewall, let every rank continue to the largest count that any rank has reached."),
      seconds("wear_out_limit_s", &P::wear_out_limit_s, {0, 1e7},
              "Limit wear_out to this many seconds after the stonewall; 0 means no limit."),
      choice("cache", &P::cache, mixed_cache_words(),
             "Choose what to do before the phase: nothing, fsync and POSIX_FADV_DONTNEED of the dataset, or "
             "/proc/sys/vm/drop_caches (needs root)."),
      choice("verify", &P::verify, mixed_verify_words(),
             "Choose what to verify of the data read, outside the timer: nothing, or what the buffers still hold."),
  };
}

}  // namespace

const Table<MixedTransferParameters>& MixedTransferParameters::table() {
  static const Table<MixedTransferParameters> fields = joined<MixedTransferParameters>(pattern(), mixed_conditions());
  return fields;
}

Status check_mixed_transfer(const MixedTransferParameters& p, const Capabilities& capabilities,
                            const std::string& pointer) {
  const MixedTransferParameters initial;
  if (!capabilities.data) return fail(bad_plan(pointer, "this backend holds no data to work on"));
  if (p.transfer_bytes % 8 != 0) return fail(bad_plan(pointer + "/transfer_bytes", "must be a multiple of 8"));
  const double reads = p.read_share * static_cast<double>(MixedTransferPattern::period);
  if (std::abs(reads - std::round(reads)) > 1e-6)
    return fail(bad_plan(pointer + "/read_share", "must be a multiple of 0.001"));
  if (p.zipf_theta != initial.zipf_theta && p.pick != Pick::zipf)
    return fail(bad_plan(pointer + "/zipf_theta", "needs pick zipf"));
  if (p.read_shift != initial.read_shift && p.read_back == ReadBack::own)
    return fail(bad_plan(pointer + "/read_shift", "needs read_back other-rank or other-node"));
  if (p.wear_out && p.stonewall_s == 0) return fail(bad_plan(pointer + "/wear_out", "needs stonewall_s"));
  if (p.wear_out_limit_s > 0 && !p.wear_out) return fail(bad_plan(pointer + "/wear_out_limit_s", "needs wear_out"));
  if (p.cache == CacheControl::drop && geteuid() != 0)
    return fail(bad_plan(pointer + "/cache", "drop needs root; advise does not"));
  return {};
}

}  // namespace ullage
