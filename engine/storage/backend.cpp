// SPDX-License-Identifier: Apache-2.0
#include "storage/backend.hpp"

namespace ullage {

template <>
void Registry<BackendEntry>::add(BackendEntry entry) {
  entry.description.capabilities = capability_words(entry.capabilities);
  entries_.push_back(std::move(entry));
  std::ranges::sort(entries_, {}, [](const BackendEntry& e) -> const std::string& { return e.description.name; });
  std::vector<std::string> inner;
  for (const auto& candidate : entries_)
    if (!candidate.wraps) inner.push_back(candidate.description.name);
  for (auto& wrapper : entries_) {
    if (!wrapper.wraps) continue;
    const auto parameter = std::ranges::find(wrapper.description.parameters, "inner", &ParameterSpec::name);
    if (parameter != wrapper.description.parameters.end()) parameter->choices = inner;
  }
}

Status File::transfer_scattered(Direction direction, std::span<const ScatteredExtent> extents, Meter& meter) {
  (void)extents;
  (void)meter;
  return fail(unsupported(word_of(direction) + " from scattered memory", ""));
}

Status Backend::ready_open(const OpenRequest& /*request*/, std::span<const ArraySpec> /*arrays*/) { return {}; }

Status Backend::make_ready(std::span<std::byte> /*memory*/, const Concurrency& /*wanted*/) { return {}; }

Status Backend::make_directory(const std::string& name) { return fail(unsupported("mkdir", name)); }

Status Backend::remove_file(const std::string& name) { return fail(unsupported("remove", name)); }

Status Backend::remove_directory(const std::string& name) { return fail(unsupported("rmdir", name)); }

Result<FileExtents> Backend::inspect(const std::string& name) { return fail(unsupported("inspect", name)); }

Result<std::unique_ptr<ViewedFile>> Backend::open_viewed(const OpenRequest& request, const Map& /*hints*/) {
  return fail(unsupported("open with views", request.name));
}

Result<std::unique_ptr<ArrayFile>> Backend::open_arrays(const OpenRequest& request,
                                                        std::span<const ArraySpec> /*arrays*/) {
  return fail(unsupported("open with arrays", request.name));
}

Result<std::unique_ptr<MetadataApi>> Backend::make_metadata() { return fail(unsupported("metadata", "")); }

Status Backend::drop_cached(const std::string& name) { return fail(unsupported("advise", name)); }

std::vector<std::string> capability_words(const Capabilities& capabilities) {
  std::vector<std::string> words;
  if (capabilities.path) words.emplace_back("path");
  if (capabilities.data) words.emplace_back("data");
  if (capabilities.collective) words.emplace_back("collective");
  if (capabilities.metadata) words.emplace_back("metadata");
  if (capabilities.views) words.emplace_back("views");
  if (capabilities.arrays) words.emplace_back("arrays");
  if (capabilities.scattered) words.emplace_back("scattered");
  if (capabilities.direct) words.emplace_back("direct");
  if (capabilities.memory) words.emplace_back("memory");
  if (capabilities.dax) words.emplace_back("dax");
  if (capabilities.queue_depth > 1) words.push_back("queue_depth=" + std::to_string(capabilities.queue_depth));
  if (capabilities.threads > 1) words.push_back("threads=" + std::to_string(capabilities.threads));
  if (capabilities.file_threads > 0) words.push_back("file_threads=" + std::to_string(capabilities.file_threads));
  if (capabilities.thread_files) words.emplace_back("thread_files");
  if (capabilities.nonblocking > 0) words.push_back("nonblocking=" + std::to_string(capabilities.nonblocking));
  return words;
}

template class Registry<BackendEntry>;
template struct Registered<BackendEntry>;

}  // namespace ullage
