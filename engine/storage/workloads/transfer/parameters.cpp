// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/parameters.hpp"

#include <unistd.h>

#include <cmath>

namespace ullage {
namespace {

Words<Order> order_words() {
  return {{Order::sequential, "sequential"},
          {Order::random, "random"},
          {Order::backward, "backward"},
          {Order::strided, "strided"},
          {Order::repeat, "repeat"}};
}
Words<SyncWhen> sync_words() {
  return {{SyncWhen::none, "none"}, {SyncWhen::close, "close"}, {SyncWhen::every, "every"}};
}

constexpr Bounds size_bounds{8, 1e15};
constexpr Bounds count_bounds{1, 1e12};

Table<TransferParameters> data_model() {
  using P = TransferParameters;
  return {
      choices("phases", &P::phases, "Run these phases in each repetition, in this order."),
      bytes("transfer_bytes", &P::transfer_bytes, size_bounds, "Move this many bytes in one call, a multiple of 8."),
      bytes("block_bytes", &P::block_bytes, size_bounds,
            "Give each rank this many contiguous bytes in a segment, a multiple of transfer_bytes."),
      count("segments", &P::segments, count_bounds, "Repeat one block of every rank this many times in the file."),
      choice("file_mode", &P::file_mode, {{FileMode::shared, "shared"}, {FileMode::per_process, "per-process"}},
             "Choose one file for all ranks, or one file for each rank."),
      flag("directory_per_process", &P::directory_per_process,
           "Put the file of each rank into a separate directory; only with file_mode per-process."),
      choice("order", &P::order, order_words(),
             "Choose the order in which a rank visits its transfers. With random it is a permutation, different on "
             "each rank; with repeat it is the first transfer, as often as there are transfers."),
      count("stride", &P::stride, count_bounds,
            "With order strided, visit transfers 0, k, 2k, ..., 1, k+1, ..., where k is this number."),
      count("order_seed", &P::order_seed, {0, 9e15}, "Set the seed of order random and of phase mixed."),
      choice("write_order", &P::write_order, {{WriteOrder::same, "same"}, {WriteOrder::sequential, "sequential"}},
             "Choose the order of phase write, which makes the files: that of parameter order, or sequential."),
      number("read_share", &P::read_share, {0, 1},
             "In phase mixed, make this share of the transfers reads, in steps of 0.001. The other transfers write the "
             "data that is already there."),
  };
}

Table<TransferParameters> conditions() {
  using P = TransferParameters;
  return {
      choice("read_back", &P::read_back, "Choose whose data a reading phase reads, by where the ranks really run."),
      count("read_shift", &P::read_shift, {1, 1e6}, "Take the data of the rank or node this many places further."),
      choice("sync", &P::sync, sync_words(),
             "Choose when a writing phase calls fsync: never, once before close, or after every sync_every transfers."),
      count("sync_every", &P::sync_every, count_bounds, "Call fsync after this many transfers; only with sync every."),
      seconds("stonewall_s", &P::stonewall_s, {0, 1e7},
              "Let a phase begin no transfer after this many seconds; 0 means no limit."),
      flag("wear_out", &P::wear_out,
           "After the stonewall, let every rank continue to the largest count that any rank has reached."),
      seconds("wear_out_limit_s", &P::wear_out_limit_s, {0, 1e7},
              "Limit wear_out to this many seconds after the stonewall; 0 means no limit."),
      choice("cache", &P::cache,
             "Choose what to do before each phase read: nothing, fsync and POSIX_FADV_DONTNEED of the dataset, or "
             "/proc/sys/vm/drop_caches (needs root). Nothing is done before reread."),
      choice("verify", &P::verify,
             "Choose what to verify after each reading phase: nothing, the last 16 MiB of a rank, or all data in a "
             "further pass. The timer does not cover it. The last 16 MiB are taken from the buffers or read again."),
      number("compress_ratio", &P::compress_ratio, {1, 40},
             "Set the compression ratio of the payload, as zstd -1 reaches it."),
      number("dedup_ratio", &P::dedup_ratio, {1, 1024},
             "Set the deduplication ratio of the payload in blocks of 4 KiB. A ratio above 1 needs transfers of whole "
             "blocks of 4 KiB."),
      count("queue_depth", &P::queue_depth, {1, 65536},
            "Keep this many operations of a rank in flight. A backend refuses more than it serves."),
      count("threads", &P::threads, {1, 4096},
            "Run this many threads on each rank. A backend refuses more than it serves."),
      bytes("buffers", &P::buffers, {0, 1e12},
            "Let the transfers of a rank go through this many bytes of memory in turn; 16 MiB are cold memory on most "
            "machines. 0 means one buffer for each operation in flight, which the caches keep."),
  };
}

Table<TransferParameters> placement() {
  using P = TransferParameters;
  return {
      choice(
          "numa_path", &P::numa_path,
          {{NumaPath::unsaid, "unsaid"},
           {NumaPath::as_is, "as-is"},
           {NumaPath::local, "local"},
           {NumaPath::remote, "remote"},
           {NumaPath::interleave, "interleave"}},
          "Bind ranks by the NUMA node of the target's device: to its CPUs (local), to those of other nodes (remote) "
          "or to those of all nodes in turn (interleave). as-is only records where they run."),
      count("buffer_node", &P::buffer_node, {-1, 1023},
            "Take the memory of the transfer buffers from this NUMA node. -1 means the node of the rank."),
  };
}

Status check_sizes(const TransferParameters& p, std::uint64_t ranks, const std::string& pointer) {
  if (p.transfer_bytes % 8 != 0) return fail(bad_plan(pointer + "/transfer_bytes", "must be a multiple of 8"));
  if (p.block_bytes % p.transfer_bytes != 0)
    return fail(bad_plan(pointer + "/block_bytes", "must be a multiple of transfer_bytes"));
  if (Count(p.block_bytes) * p.segments * ranks > most_file_bytes)
    return fail(
        bad_plan(pointer + "/segments", "must be smaller: segments x block_bytes x ranks makes more than 4e18 bytes"));
  if (p.dedup_ratio > 1 && p.transfer_bytes % 4096 != 0)
    return fail(bad_plan(pointer + "/dedup_ratio", "above 1 needs transfer_bytes to be a multiple of 4096"));
  return {};
}

Status check_write_order(const TransferParameters& p, const std::string& pointer) {
  if (p.write_order == WriteOrder::same) return {};
  if (p.order == Order::sequential)
    return fail(bad_plan(pointer + "/write_order", "must be same when order is sequential"));
  if (p.stonewall_s > 0)
    return fail(bad_plan(pointer + "/write_order",
                         "must be same with stonewall_s, so that the other phases visit what was written before the "
                         "stonewall"));
  return {};
}

Status check_mixed(const TransferParameters& p, const Capabilities& capabilities, const std::string& pointer) {
  const TransferParameters initial;
  const bool mixes = std::ranges::count(p.phases, PhaseKind::mixed) > 0;
  if (!mixes && p.read_share != initial.read_share) return fail(bad_plan(pointer + "/read_share", "needs phase mixed"));
  if (!mixes) return {};
  const double reads = p.read_share * static_cast<double>(MixedTransferPattern::period);
  if (std::abs(reads - std::round(reads)) > 1e-6)
    return fail(bad_plan(pointer + "/read_share", "must be a multiple of 0.001"));
  if (!capabilities.data) return fail(bad_plan(pointer + "/phases", "mixed needs a backend that holds data"));
  if (capabilities.collective && p.file_mode == FileMode::shared)
    return fail(bad_plan(pointer + "/phases", "mixed needs independent operations: this backend is collective"));
  if (p.sync == SyncWhen::every) return fail(bad_plan(pointer + "/sync", "must be none or close with phase mixed"));
  return {};
}

Status check_combinations(const TransferParameters& p, const std::string& pointer) {
  if (p.directory_per_process && p.file_mode != FileMode::per_process)
    return fail(bad_plan(pointer + "/directory_per_process", "needs file_mode per-process"));
  if (std::ranges::count(p.phases, PhaseKind::write) > (p.makes_dataset() ? 1 : 0))
    return fail(bad_plan(pointer + "/phases",
                         "may hold write, which makes the dataset, only once and first; use rewrite for later writes"));
  const TransferParameters initial;
  if (p.sync_every != initial.sync_every && p.sync != SyncWhen::every)
    return fail(bad_plan(pointer + "/sync_every", "needs sync every"));
  if (p.stride != initial.stride && p.order != Order::strided)
    return fail(bad_plan(pointer + "/stride", "needs order strided"));
  if (p.order == Order::repeat && p.makes_dataset() && p.write_order != WriteOrder::sequential)
    return fail(
        bad_plan(pointer + "/write_order", "must be sequential with order repeat, which alone writes no whole file"));
  if (p.read_shift != initial.read_shift && p.read_back == ReadBack::own)
    return fail(bad_plan(pointer + "/read_shift", "needs read_back other-rank or other-node"));
  if (p.cache == CacheControl::drop && p.reads() && geteuid() != 0)
    return fail(bad_plan(pointer + "/cache", "drop needs root; advise does not"));
  return {};
}

}  // namespace

Table<TransferParameters> TransferParameters::table() {
  return joined<TransferParameters>(data_model(), conditions(), placement());
}

TransferShape TransferParameters::shape(std::uint64_t ranks) const {
  return {transfer_bytes, block_bytes, segments, ranks, file_mode, order, stride, order_seed};
}

Order TransferParameters::order_of(PhaseKind kind) const {
  return kind == PhaseKind::write && write_order == WriteOrder::sequential ? Order::sequential : order;
}

bool TransferParameters::reads() const {
  return std::ranges::any_of(phases, [](PhaseKind kind) {
    return kind == PhaseKind::read || kind == PhaseKind::reread || kind == PhaseKind::mixed;
  });
}

Status check_transfer(const TransferParameters& p, const Capabilities& capabilities, const PlannedLayout& layout,
                      const std::string& pointer) {
  if (auto status = check_sizes(p, static_cast<std::uint64_t>(layout.ranks), pointer); !status) return status;
  if (auto status = check_combinations(p, pointer); !status) return status;
  if (auto status = check_wall(p, pointer); !status) return status;
  if (auto status = check_write_order(p, pointer); !status) return status;
  if (auto status = check_mixed(p, capabilities, pointer); !status) return status;
  if (!capabilities.data && p.reads() && p.verify != Verify::none)
    return fail(bad_plan(pointer + "/verify", "must be none: this backend holds no data"));
  if (p.queue_depth > capabilities.queue_depth)
    return fail(
        bad_plan(pointer + "/queue_depth", "this backend serves at most " + std::to_string(capabilities.queue_depth)));
  if (p.threads > capabilities.threads)
    return fail(bad_plan(pointer + "/threads", "this backend serves at most " + std::to_string(capabilities.threads)));
  return {};
}

}  // namespace ullage
