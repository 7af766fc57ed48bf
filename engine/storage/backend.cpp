// SPDX-License-Identifier: Apache-2.0
#include "storage/backend.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace ullage {

template <>
void Registry<BackendEntry>::add(BackendEntry entry) {
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

std::vector<std::string> capability_words(const Capabilities& capabilities) {
  std::vector<std::string> words;
  if (capabilities.path) words.emplace_back("path");
  if (capabilities.data) words.emplace_back("data");
  if (capabilities.collective) words.emplace_back("collective");
  if (capabilities.metadata) words.emplace_back("metadata");
  if (capabilities.views) words.emplace_back("views");
  if (capabilities.direct) words.emplace_back("direct");
  if (capabilities.queue_depth > 1) words.push_back("queue_depth=" + std::to_string(capabilities.queue_depth));
  if (capabilities.threads > 1) words.push_back("threads=" + std::to_string(capabilities.threads));
  return words;
}

Status agree(const mpi::Comm& everyone, const Status& own, const std::string& operation, const std::string& where) {
  constexpr std::int64_t nobody = std::int64_t{1} << 40;
  const std::int64_t failing = everyone.min(own ? nobody : everyone.rank());
  if (failing == nobody) return {};
  const auto root = static_cast<int>(failing);
  const std::int64_t errno_value = everyone.broadcast(own ? 0 : std::int64_t{own.error().errno_value}, root);
  const std::string text = everyone.broadcast(own ? std::string() : own.error().text, root);
  if (!own) return own;
  Error error = errno_error(static_cast<int>(errno_value), operation, where);
  error.text = "rank " + std::to_string(failing) + " failed: " + text;
  return fail(std::move(error));
}

template class Registry<BackendEntry>;
template struct Registered<BackendEntry>;

}  // namespace ullage
