// SPDX-License-Identifier: Apache-2.0
// How transfers are stored by libpmem: the parameters of the backends that do, and the call that each choice makes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/parameters.hpp"
#include "storage/pmem_library.hpp"

namespace ullage {

enum class Store { persist, nodrain, nontemporal, streaming };

struct StoreParameters {
  Store store = Store::persist;
  std::uint64_t streaming_bytes = 256;
};

/// The fields of a backend's parameters that begin with these.
template <class P>
[[nodiscard]] Table<P> store_table() {
  return {
      choice<P, Store>(
          "store", &P::store,
          {{Store::persist, "persist"},
           {Store::nodrain, "nodrain"},
           {Store::nontemporal, "nontemporal"},
           {Store::streaming, "streaming"}},
          "Choose how transfers are stored. persist makes each durable before the next. The others drain all stores at "
          "the sync: nodrain stores as libpmem chooses, nontemporal past the caches, streaming past the caches from "
          "streaming_bytes on."),
      bytes<P>("streaming_bytes", &P::streaming_bytes, {},
               "With store streaming, store transfers of this size or more past the caches. Smaller ones go through "
               "the caches and are flushed."),
  };
}

/// `move(store)`, where `store(to, from, bytes)` is what `parameters` ask for: one call of libpmem.
template <class Move>
[[nodiscard]] auto with_store(const StoreParameters& parameters, const PmemCalls& library, const Move& move) {
  const auto copy = library.copy;
  if (parameters.store == Store::streaming)
    return move([copy, least = parameters.streaming_bytes](std::byte* to, const std::byte* from, std::size_t bytes) {
      copy(to, from, bytes, (bytes >= least ? pmem_non_temporal : pmem_temporal) | pmem_no_drain);
    });
  unsigned flags = 0;
  if (parameters.store == Store::nodrain) flags = pmem_no_drain;
  if (parameters.store == Store::nontemporal) flags = pmem_non_temporal | pmem_no_drain;
  return move([copy, flags](std::byte* to, const std::byte* from, std::size_t bytes) { copy(to, from, bytes, flags); });
}

}  // namespace ullage
