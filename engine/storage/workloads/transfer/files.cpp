// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/files.hpp"

#include <utility>

#include "storage/node_caches.hpp"

namespace ullage {

std::string TransferFiles::file_of(int rank) const {
  return dataset.file_name(dataset.per_process ? static_cast<std::uint64_t>(rank) : 0);
}

bool TransferFiles::looks() const {
  return capabilities.data && (dataset.per_process || context->world->topology().leader());
}

void TransferFiles::find_source(ReadBack read_back, int shift) {
  DataSource source = find_data_source(*context->world, read_back, shift);
  source_rank = source.rank;
  data_of = std::move(source.data_of);
}

Status TransferFiles::control_cache(CacheControl cache) const {
  const mpi::World& world = *context->world;
  Status status;
  if (cache != CacheControl::none && !capabilities.direct) {
    const int own = world.rank();
    if (dataset.per_process) {
      status = context->backend->drop_cached(file_of(own));
      if (source_rank != own) keep_first(status, context->backend->drop_cached(file_of(source_rank)));
    } else if (world.topology().leader()) {
      status = context->backend->drop_cached(file_of(source_rank));
    }
  }
  world.all().barrier();
  if (cache == CacheControl::drop && world.topology().leader())
    keep_first(status, drop_node_caches(CachesToDrop::pages));
  return status;
}

Map TransferFiles::hints_granted(Map of_file) const {
  of_file.merge(context->backend->hints_granted());
  return of_file;
}

void TransferFiles::tell_whose(ReadBack read_back, const std::string& own_text, const std::string& same_node_text,
                               PhaseInfo& info) const {
  ullage::tell_whose(data_of, read_back, own_text, same_node_text, info);
}

}  // namespace ullage
