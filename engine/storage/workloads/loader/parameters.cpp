// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/parameters.hpp"

#include "base/rounding.hpp"

namespace ullage {
namespace {

const Words<LoaderData>& loader_data_words() {
  static const Words<LoaderData> words{
      {LoaderData::make, "make"}, {LoaderData::use, "use"}, {LoaderData::none, "none"}};
  return words;
}
const Words<LoaderCache>& loader_cache_words() {
  static const Words<LoaderCache> words{{LoaderCache::none, "none"}, {LoaderCache::advise, "advise"}};
  return words;
}
const Words<LoaderVerify>& loader_verify_words() {
  static const Words<LoaderVerify> words{
      {LoaderVerify::none, "none"}, {LoaderVerify::kept, "kept"}, {LoaderVerify::full, "full"}};
  return words;
}

Table<LoaderParameters> sample_set() {
  using P = LoaderParameters;
  return {
      choice("data", &P::data, loader_data_words(),
             "Choose where the samples come from: this case makes them, it uses those of the named dataset, or there "
             "are none because the backend holds no data."),
      count("samples", &P::samples, {1, 1e12}, "Let the training set have this many samples."),
      count("samples_per_file", &P::samples_per_file, {1, 1e6}, "Put this many samples into a file."),
      bytes("sample_bytes", &P::sample_bytes, {1, 1e12}, "Let a sample have this many bytes on average."),
      bytes("deviation_bytes", &P::deviation_bytes, {0, 1e12},
            "Vary the sizes normally, with this standard deviation. Sizes stay within 15/16 of the mean."),
      bytes("unit_bytes", &P::unit_bytes, {1, 1 << 20}, "Round sizes to multiples of this many bytes."),
      count("seed", &P::seed, {}, "Set the seed of the sizes and of the orders."),
  };
}

Table<LoaderParameters> training() {
  using P = LoaderParameters;
  return {
      count("epochs", &P::epochs, {0, 1000}, "Read the samples this many times, each time in another order."),
      count("read_samples", &P::read_samples, {0, 1e12}, "Read only the first this many samples; 0 means all."),
      count("accelerators", &P::accelerators, {0, 1e6},
            "Emulate this many accelerators, dealt out to the ranks; 0 means one for each rank."),
      count("batch", &P::batch, {1, 1e6}, "Let an accelerator take this many samples for a step."),
      seconds("step_s", &P::step_s, {0, 3600}, "Let an accelerator compute for this long with each batch."),
      count("threads", &P::threads, {1, LoaderParameters::most_threads},
            "Read ahead with this many threads for each accelerator."),
      count("ahead", &P::ahead, {1, LoaderParameters::most_ahead},
            "Let the threads read this many batches ahead, and at least two samples each."),
      bytes("transfer_bytes", &P::transfer_bytes, {1, 1 << 30}, "Read a sample in calls of at most this many bytes."),
      choice("cache", &P::cache, loader_cache_words(),
             "Choose what to do before the first epoch: nothing (none), or drop the samples from every node's page "
             "cache (advise)."),
      choice("verify", &P::verify, loader_verify_words(),
             "Choose what to check after each epoch: nothing, the pieces that the buffers hold (kept), or every "
             "sample, which is read again for it (full)."),
  };
}

Status check_data(const LoaderParameters& p, const Capabilities& capabilities, const std::string& pointer) {
  if (!capabilities.data && p.data != LoaderData::none)
    return fail(bad_plan(pointer + "/data", "must be none: the backend holds no data"));
  if (capabilities.data && p.data == LoaderData::none)
    return fail(bad_plan(pointer + "/data", "must be make or use: the backend reads files"));
  if (!capabilities.data && p.verify != LoaderVerify::none)
    return fail(bad_plan(pointer + "/verify", "must be none: the backend holds no data to verify"));
  if (p.epochs == 0 && p.data != LoaderData::make)
    return fail(bad_plan(pointer + "/epochs", "must be 1 or more: nothing is made either"));
  return {};
}

Status check_readers(const LoaderParameters& p, const Capabilities& capabilities, std::uint64_t ranks,
                     const std::string& pointer) {
  if (p.epochs == 0) return {};
  const std::uint64_t accelerators = p.accelerators_of(ranks);
  if (accelerators < ranks)
    return fail(
        bad_plan(pointer + "/accelerators", "must be 0 or at least the number of ranks, " + std::to_string(ranks)));
  if (p.samples_read() < accelerators * p.batch)
    return fail(bad_plan(pointer + "/batch", "must leave a batch for each of " + std::to_string(accelerators) +
                                                 " accelerators: " + std::to_string(p.samples_read()) +
                                                 " samples are read"));
  const std::uint64_t threads = (accelerators + ranks - 1) / ranks * p.threads;
  const auto served = static_cast<std::uint64_t>(capabilities.file_threads);
  if (threads > served)
    return fail(bad_plan(pointer + "/threads", "must be less: a rank would read with " + std::to_string(threads) +
                                                   " threads, and this backend serves " + std::to_string(served)));
  return {};
}

}  // namespace

const Table<LoaderParameters>& LoaderParameters::table() {
  static const Table<LoaderParameters> fields = joined<LoaderParameters>(sample_set(), training());
  return fields;
}

Status check_loader(const LoaderParameters& p, const Capabilities& capabilities, const PlannedLayout& layout,
                    const std::string& pointer) {
  if (auto status = check_data(p, capabilities, pointer); !status) return status;
  if (p.read_samples > p.samples)
    return fail(
        bad_plan(pointer + "/read_samples", "must be at most the number of samples, " + std::to_string(p.samples)));
  if (p.unit_bytes > p.sample_bytes)
    return fail(bad_plan(pointer + "/unit_bytes", "must be at most the size of a sample"));
  if (p.transfer_bytes % p.unit_bytes != 0)
    return fail(bad_plan(pointer + "/transfer_bytes", "must be a multiple of unit_bytes"));
  return check_readers(p, capabilities, static_cast<std::uint64_t>(layout.ranks), pointer);
}

Needs needs_of_loader(const LoaderParameters& p) {
  if (p.data != LoaderData::make) return {};
  const SampleFiles files(p.set(1));
  return file_needs(files.files(), 1) + Needs{files.sizes().most_bytes(p.samples), 0, 0};
}

}  // namespace ullage
