// SPDX-License-Identifier: Apache-2.0
// Collectives, windows and hints of one process; a part of mpi.h.
#pragma once

#include "mpi.h"

// -- collectives ------------------------------------------------------------------------------------------------------

inline int MPI_Barrier(MPI_Comm /*comm*/) { return MPI_SUCCESS; }
inline int MPI_Bcast(void* /*data*/, int /*count*/, MPI_Datatype /*type*/, int root, MPI_Comm /*comm*/) {
  return ullage::single::checked(root);
}
inline int MPI_Allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op /*op*/, MPI_Comm /*comm*/) {
  return ullage::single::copied(out, count, type, in);
}
inline int MPI_Reduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op /*op*/, int root,
                      MPI_Comm /*c*/) {
  return root == 0 ? ullage::single::copied(out, count, type, in) : MPI_ERR_RANK;
}
inline int MPI_Exscan(const void* /*out*/, void* /*in*/, int /*count*/, MPI_Datatype /*type*/, MPI_Op /*op*/,
                      MPI_Comm /*comm*/) {
  return MPI_SUCCESS;  // what the first rank gets is not defined
}
inline int MPI_Reduce_scatter(const void* out, void* in, const int* counts, MPI_Datatype type, MPI_Op /*op*/,
                              MPI_Comm /*comm*/) {
  return ullage::single::copied(out, counts[0], type, in);
}
inline int MPI_Gather(const void* out, int count, MPI_Datatype type, void* in, int /*count*/, MPI_Datatype /*type*/,
                      int root, MPI_Comm /*comm*/) {
  return root == 0 ? ullage::single::copied(out, count, type, in) : MPI_ERR_RANK;
}
inline int MPI_Scatter(const void* out, int count, MPI_Datatype type, void* in, int in_count, MPI_Datatype in_type,
                       int root, MPI_Comm comm) {
  return MPI_Gather(out, count, type, in, in_count, in_type, root, comm);
}
inline int MPI_Allgather(const void* out, int count, MPI_Datatype type, void* in, int in_count, MPI_Datatype in_type,
                         MPI_Comm comm) {
  return MPI_Gather(out, count, type, in, in_count, in_type, 0, comm);
}
inline int MPI_Alltoall(const void* out, int count, MPI_Datatype type, void* in, int in_count, MPI_Datatype in_type,
                        MPI_Comm comm) {
  return MPI_Gather(out, count, type, in, in_count, in_type, 0, comm);
}
inline int MPI_Allgatherv(const void* out, int count, MPI_Datatype type, void* in, const int* /*counts*/,
                          const int* places, MPI_Datatype in_type, MPI_Comm /*comm*/) {
  return ullage::single::copied(out, count, type, ullage::single::place(in, places[0], in_type));
}
inline int MPI_Alltoallv(const void* out, const int* counts, const int* out_places, MPI_Datatype type, void* in,
                         const int* /*counts*/, const int* in_places, MPI_Datatype in_type, MPI_Comm /*comm*/) {
  return ullage::single::copied(ullage::single::place(out, out_places[0], type), counts[0], type,
                                ullage::single::place(in, in_places[0], in_type));
}

namespace ullage::single {

/// The nonblocking form of a collective, which has ended when it begins.
template <class... Arguments>
struct Begun {
  template <int (*call)(Arguments...)>
  static int run(Arguments... arguments, MPI_Request* request) {
    *request = MPI_REQUEST_NULL;
    return call(arguments...);
  }
};
template <class... Arguments>
Begun<Arguments...> begun(int (*call)(Arguments...));

}  // namespace ullage::single

#define ULLAGE_BEGUN(call) decltype(ullage::single::begun(call))::run<&call>
inline constexpr auto& MPI_Ibarrier = ULLAGE_BEGUN(MPI_Barrier);
inline constexpr auto& MPI_Ibcast = ULLAGE_BEGUN(MPI_Bcast);
inline constexpr auto& MPI_Ireduce = ULLAGE_BEGUN(MPI_Reduce);
inline constexpr auto& MPI_Iallreduce = ULLAGE_BEGUN(MPI_Allreduce);
inline constexpr auto& MPI_Ireduce_scatter = ULLAGE_BEGUN(MPI_Reduce_scatter);
inline constexpr auto& MPI_Igather = ULLAGE_BEGUN(MPI_Gather);
inline constexpr auto& MPI_Iscatter = ULLAGE_BEGUN(MPI_Scatter);
inline constexpr auto& MPI_Iallgather = ULLAGE_BEGUN(MPI_Allgather);
inline constexpr auto& MPI_Iallgatherv = ULLAGE_BEGUN(MPI_Allgatherv);
inline constexpr auto& MPI_Ialltoall = ULLAGE_BEGUN(MPI_Alltoall);
inline constexpr auto& MPI_Ialltoallv = ULLAGE_BEGUN(MPI_Alltoallv);
#undef ULLAGE_BEGUN

// -- windows ----------------------------------------------------------------------------------------------------------

inline int MPI_Win_allocate(MPI_Aint bytes, int /*unit*/, MPI_Info /*info*/, MPI_Comm /*comm*/, void* base,
                            MPI_Win* win) {
  *win = new (std::nothrow) ullage::single::Window;
  if (*win != nullptr) (*win)->memory.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]());
  if (*win == nullptr || !(*win)->memory) return MPI_ERR_NO_MEM;
  *static_cast<void**>(base) = (*win)->memory.get();
  return MPI_SUCCESS;
}
inline int MPI_Win_free(MPI_Win* win) {
  delete *win;
  return *win = MPI_WIN_NULL, MPI_SUCCESS;
}
inline int MPI_Win_set_errhandler(MPI_Win /*win*/, MPI_Errhandler /*handler*/) { return MPI_SUCCESS; }
inline int MPI_Win_lock(int /*kind*/, int rank, int /*hints*/, MPI_Win /*win*/) {
  return ullage::single::checked(rank);
}
inline int MPI_Win_unlock(int rank, MPI_Win /*win*/) { return ullage::single::checked(rank); }
inline int MPI_Win_lock_all(int /*hints*/, MPI_Win /*win*/) { return MPI_SUCCESS; }
inline int MPI_Win_unlock_all(MPI_Win /*win*/) { return MPI_SUCCESS; }
inline int MPI_Win_flush(int rank, MPI_Win /*win*/) { return ullage::single::checked(rank); }
inline int MPI_Win_fence(int /*hints*/, MPI_Win /*win*/) { return MPI_SUCCESS; }
inline int MPI_Put(const void* data, int count, MPI_Datatype type, int rank, MPI_Aint place, int /*count*/,
                   MPI_Datatype /*type*/, MPI_Win win) {
  return rank == 0 ? ullage::single::copied(data, count, type, win->memory.get() + place) : MPI_ERR_RANK;
}
inline int MPI_Get(void* data, int count, MPI_Datatype type, int rank, MPI_Aint place, int /*count*/,
                   MPI_Datatype /*type*/, MPI_Win win) {
  return rank == 0 ? ullage::single::copied(win->memory.get() + place, count, type, data) : MPI_ERR_RANK;
}
inline int MPI_Accumulate(const void* data, int count, MPI_Datatype type, int rank, MPI_Aint place, int /*count*/,
                          MPI_Datatype /*type*/, MPI_Op op, MPI_Win win) {
  if (rank != 0) return MPI_ERR_RANK;
  if (type != MPI_INT64_T || op != MPI_SUM) return MPI_ERR_OP;
  auto* const sums = reinterpret_cast<std::int64_t*>(win->memory.get() + place);
  for (int i = 0; i < count; ++i) sums[i] += static_cast<const std::int64_t*>(data)[i];
  return MPI_SUCCESS;
}

// -- hints ------------------------------------------------------------------------------------------------------------

inline int MPI_Info_create(MPI_Info* info) { return *info = new std::remove_pointer_t<MPI_Info>, MPI_SUCCESS; }
inline int MPI_Info_free(MPI_Info* info) {
  delete *info;
  return *info = MPI_INFO_NULL, MPI_SUCCESS;
}
inline int MPI_Info_set(MPI_Info info, const char* key, const char* value) {
  std::erase_if(*info, [&](const auto& hint) { return hint.first == key; });
  return info->emplace_back(key, value), MPI_SUCCESS;
}
inline int MPI_Info_get_nkeys(MPI_Info info, int* count) {
  return *count = static_cast<int>(info->size()), MPI_SUCCESS;
}
inline int MPI_Info_get_nthkey(MPI_Info info, int index, char* key) {
  int length = 0;
  return ullage::single::written((*info)[static_cast<std::size_t>(index)].first, key, &length);
}
inline int MPI_Info_get_valuelen(MPI_Info info, const char* key, int* length, int* found) {
  *found = 0;
  for (const auto& [name, value] : *info)
    if (name == key) *found = 1, *length = static_cast<int>(value.size());
  return MPI_SUCCESS;
}
inline int MPI_Info_get(MPI_Info info, const char* key, int /*room*/, char* value, int* found) {
  int length = 0;
  *found = 0;
  for (const auto& hint : *info)
    if (hint.first == key) *found = 1, ullage::single::written(hint.second, value, &length);
  return MPI_SUCCESS;
}
