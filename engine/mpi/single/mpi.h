// SPDX-License-Identifier: Apache-2.0
// MPI of one process, of what engine/mpi calls: collectives are copies, messages and windows are this rank's own
// memory. MPI-IO is refused, so its data types are, too. By it an engine runs where there is no MPI. Called by one
// thread.
#pragma once

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#define ULLAGE_SINGLE_MPI 1
#define MPI_VERSION 3

inline constexpr int MPI_MAX_ERROR_STRING = 256;
inline constexpr int MPI_MAX_LIBRARY_VERSION_STRING = 256;
inline constexpr int MPI_MAX_PROCESSOR_NAME = 256;
inline constexpr int MPI_MAX_INFO_KEY = 256;
inline constexpr int MPI_MAX_INFO_VAL = 1024;

enum : int {
  MPI_SUCCESS,
  MPI_ERR_COUNT,
  MPI_ERR_RANK,
  MPI_ERR_TRUNCATE,
  MPI_ERR_OP,
  MPI_ERR_OTHER,
  MPI_ERR_IN_STATUS,
  MPI_ERR_NO_MEM,
  MPI_ERR_UNSUPPORTED_OPERATION,
  MPI_ERR_IO,
  MPI_ERR_ACCESS,
  MPI_ERR_BAD_FILE,
  MPI_ERR_FILE_EXISTS,
  MPI_ERR_FILE_IN_USE,
  MPI_ERR_NO_SPACE,
  MPI_ERR_NO_SUCH_FILE,
  MPI_ERR_QUOTA,
  MPI_ERR_READ_ONLY
};
enum : int { MPI_THREAD_SINGLE, MPI_THREAD_MULTIPLE };
enum : int {
  MPI_ANY_SOURCE = -2,
  MPI_ANY_TAG = -1,
  MPI_UNDEFINED = -32766,
  MPI_LOCK_SHARED = 1,
  MPI_MODE_NOSUCCEED = 1
};
enum : int {
  MPI_MODE_RDONLY = 1,
  MPI_MODE_RDWR = 2,
  MPI_MODE_WRONLY = 4,
  MPI_MODE_CREATE = 8,
  MPI_MODE_EXCL = 16,
  MPI_MODE_UNIQUE_OPEN = 32,
  MPI_DISTRIBUTE_BLOCK,
  MPI_DISTRIBUTE_DFLT_DARG,
  MPI_ORDER_C
};

using MPI_Aint = std::ptrdiff_t;
using MPI_Offset = std::int64_t;
using MPI_Count = std::int64_t;
using MPI_Comm = int;
using MPI_File = int;
using MPI_Op = int;
using MPI_Errhandler = int;
using MPI_T_cvar_handle = int;
/// Its lowest byte is its size.
using MPI_Datatype = int;

inline constexpr MPI_Comm MPI_COMM_NULL = 0;
inline constexpr MPI_Comm MPI_COMM_WORLD = 1;
inline constexpr MPI_Comm MPI_COMM_SELF = 2;
inline constexpr MPI_File MPI_FILE_NULL = 0;
inline constexpr MPI_Errhandler MPI_ERRORS_RETURN = 1;
inline constexpr MPI_T_cvar_handle MPI_T_CVAR_HANDLE_NULL = 0;
inline constexpr MPI_Datatype MPI_DATATYPE_NULL = 0;
inline constexpr MPI_Datatype MPI_BYTE = 0x101;
inline constexpr MPI_Datatype MPI_CHAR = 0x201;
inline constexpr MPI_Datatype MPI_INT64_T = 0x308;
inline constexpr MPI_Datatype MPI_UINT64_T = 0x408;
inline constexpr MPI_Datatype MPI_FLOAT = 0x504;
inline constexpr MPI_Datatype MPI_DOUBLE = 0x608;
inline constexpr MPI_Datatype MPI_LONG_INT = 0x710;
enum : MPI_Op { MPI_SUM, MPI_MIN, MPI_MAX, MPI_MINLOC, MPI_MAXLOC };
inline char ullage_in_place = 0;
inline void* const MPI_IN_PLACE = &ullage_in_place;

struct MPI_Status {
  int MPI_SOURCE = 0;
  int MPI_TAG = 0;
  int MPI_ERROR = MPI_SUCCESS;
  std::size_t bytes = 0;
};
inline constexpr MPI_Status* MPI_STATUS_IGNORE = nullptr;
inline constexpr MPI_Status* MPI_STATUSES_IGNORE = nullptr;

namespace ullage::single {

struct Message {
  MPI_Comm comm = MPI_COMM_NULL;
  int tag = 0;
  std::vector<std::byte> data;
};

/// A receive that was begun, until somebody waits for it.
struct Receive {
  MPI_Comm comm = MPI_COMM_NULL;
  int tag = 0;
  std::byte* room = nullptr;
  std::size_t room_bytes = 0;
  bool is_done = false;
  MPI_Status status;
};

struct Window {
  std::unique_ptr<std::byte[]> memory;
};

struct Process {
  bool is_up = false;
  bool has_ended = false;
  MPI_Comm last_comm = MPI_COMM_SELF;
  std::list<Message> sent;      // and not received yet
  std::list<Receive> receives;  // that were begun
};
inline Process process;

inline std::size_t bytes_of(int count, MPI_Datatype type) {
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(type & 0xff);
}

inline bool fits(const Receive& receive, const Message& message) {
  return receive.comm == message.comm && (receive.tag == MPI_ANY_TAG || receive.tag == message.tag);
}

inline void give(const Message& message, Receive& receive) {
  const bool is_cut = message.data.size() > receive.room_bytes;
  const std::size_t bytes = is_cut ? receive.room_bytes : message.data.size();
  if (bytes > 0) std::memcpy(receive.room, message.data.data(), bytes);
  receive.status = {0, message.tag, is_cut ? MPI_ERR_TRUNCATE : MPI_SUCCESS, bytes};
  receive.is_done = true;
}

/// Ends a receive if what it is for was sent.
inline bool settle(Receive& receive) {
  for (auto sent = process.sent.begin(); sent != process.sent.end() && !receive.is_done; ++sent)
    if (fits(receive, *sent)) {
      give(*sent, receive);
      process.sent.erase(sent);
      break;
    }
  return receive.is_done;
}

inline int copied(const void* from, int count, MPI_Datatype type, void* to) {
  if (count > 0 && from != MPI_IN_PLACE && from != to) std::memcpy(to, from, bytes_of(count, type));
  return MPI_SUCCESS;
}

inline int checked(int rank) { return rank == 0 ? MPI_SUCCESS : MPI_ERR_RANK; }

inline std::byte* place(void* base, MPI_Aint items, MPI_Datatype type) {
  return static_cast<std::byte*>(base) + items * (type & 0xff);
}
inline const std::byte* place(const void* base, MPI_Aint items, MPI_Datatype type) {
  return static_cast<const std::byte*>(base) + items * (type & 0xff);
}

inline int written(const std::string& text, char* to, int* length) {
  std::memcpy(to, text.c_str(), text.size() + 1);
  *length = static_cast<int>(text.size());
  return MPI_SUCCESS;
}

/// A function that one process without MPI does not have.
struct Refused {
  template <class... Arguments>
  int operator()(const Arguments&... /*any*/) const {
    return MPI_ERR_UNSUPPORTED_OPERATION;
  }
};

}  // namespace ullage::single

using MPI_Request = ullage::single::Receive*;  // all but receives have ended when they have begun
using MPI_Win = ullage::single::Window*;
using MPI_Info = std::vector<std::pair<std::string, std::string>>*;
inline constexpr MPI_Request MPI_REQUEST_NULL = nullptr;
inline constexpr MPI_Win MPI_WIN_NULL = nullptr;
inline constexpr MPI_Info MPI_INFO_NULL = nullptr;

inline constexpr ullage::single::Refused MPI_File_close, MPI_File_get_byte_offset, MPI_File_get_info,
    MPI_File_get_position, MPI_File_get_position_shared, MPI_File_get_size, MPI_File_iread_at, MPI_File_iwrite_at,
    MPI_File_open, MPI_File_preallocate, MPI_File_read, MPI_File_read_all, MPI_File_read_at, MPI_File_read_at_all,
    MPI_File_read_ordered, MPI_File_set_errhandler, MPI_File_set_info, MPI_File_set_view, MPI_File_sync, MPI_File_write,
    MPI_File_write_all, MPI_File_write_at, MPI_File_write_at_all, MPI_File_write_ordered, MPI_Type_commit,
    MPI_Type_contiguous, MPI_Type_create_darray, MPI_Type_create_hindexed, MPI_Type_create_hindexed_block,
    MPI_Type_create_resized, MPI_Type_create_subarray, MPI_Type_free, MPI_Request_free, MPI_Request_get_status,
    MPI_T_init_thread, MPI_T_cvar_get_index, MPI_T_cvar_handle_alloc, MPI_T_cvar_handle_free, MPI_T_cvar_read,
    MPI_T_finalize;

// -- the process ------------------------------------------------------------------------------------------------------

inline int MPI_Init_thread(int* /*argc*/, char*** /*argv*/, int wanted, int* provided) {
  *provided = wanted;
  ullage::single::process.is_up = true;
  return MPI_SUCCESS;
}
inline int MPI_Initialized(int* flag) { return *flag = ullage::single::process.is_up ? 1 : 0, MPI_SUCCESS; }
inline int MPI_Finalized(int* flag) { return *flag = ullage::single::process.has_ended ? 1 : 0, MPI_SUCCESS; }
inline int MPI_Finalize() { return ullage::single::process.has_ended = true, MPI_SUCCESS; }
inline int MPI_Query_thread(int* level) { return *level = MPI_THREAD_MULTIPLE, MPI_SUCCESS; }
inline int MPI_Is_thread_main(int* flag) { return *flag = 1, MPI_SUCCESS; }
inline int MPI_Abort(MPI_Comm /*comm*/, int code) { _exit(code); }
inline int MPI_Get_version(int* version, int* part) { return *version = MPI_VERSION, *part = 0, MPI_SUCCESS; }
inline int MPI_Get_library_version(char* text, int* length) {
  return ullage::single::written("no MPI: one process", text, length);
}
inline int MPI_Get_processor_name(char* name, int* length) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  return ullage::single::written(gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "unknown", name,
                                 length);
}
inline int MPI_Error_class(int code, int* error_class) { return *error_class = code, MPI_SUCCESS; }
inline int MPI_Error_string(int code, char* text, int* length) {
  const char* const said = code == MPI_ERR_UNSUPPORTED_OPERATION ? "this engine runs without MPI"
                           : code == MPI_ERR_RANK                ? "without MPI there is no rank but 0"
                           : code == MPI_ERR_TRUNCATE            ? "a message is longer than its receiver expects"
                           : code == MPI_ERR_OTHER               ? "a message is waited for that nobody sends"
                                                                 : "an error of one process without MPI";
  return ullage::single::written(said, text, length);
}

// -- communicators ----------------------------------------------------------------------------------------------------

inline int MPI_Comm_set_errhandler(MPI_Comm /*comm*/, MPI_Errhandler /*handler*/) { return MPI_SUCCESS; }
inline int MPI_Comm_rank(MPI_Comm /*comm*/, int* rank) { return *rank = 0, MPI_SUCCESS; }
inline int MPI_Comm_size(MPI_Comm /*comm*/, int* size) { return *size = 1, MPI_SUCCESS; }
inline int MPI_Comm_dup(MPI_Comm /*comm*/, MPI_Comm* made) {
  return *made = ++ullage::single::process.last_comm, MPI_SUCCESS;
}
inline int MPI_Comm_split(MPI_Comm comm, int /*color*/, int /*key*/, MPI_Comm* made) {
  return MPI_Comm_dup(comm, made);
}
inline int MPI_Comm_free(MPI_Comm* comm) { return *comm = MPI_COMM_NULL, MPI_SUCCESS; }

// -- messages ---------------------------------------------------------------------------------------------------------

inline int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  const std::size_t size = ullage::single::bytes_of(1, type);
  *count = status->bytes % size == 0 ? static_cast<int>(status->bytes / size) : MPI_UNDEFINED;
  return MPI_SUCCESS;
}
inline int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (to != 0) return MPI_ERR_RANK;
  const auto* const bytes = static_cast<const std::byte*>(data);
  ullage::single::process.sent.push_back({comm, tag, {bytes, bytes + ullage::single::bytes_of(count, type)}});
  for (ullage::single::Receive& receive : ullage::single::process.receives) settle(receive);
  return MPI_SUCCESS;
}
inline int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  return MPI_Send(data, count, type, to, tag, comm);
}
inline int MPI_Irecv(void* room, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  ullage::single::process.receives.push_back(
      {comm, tag, static_cast<std::byte*>(room), ullage::single::bytes_of(count, type), false, {}});
  *request = &ullage::single::process.receives.back();
  settle(**request);
  return from == MPI_ANY_SOURCE ? MPI_SUCCESS : ullage::single::checked(from);
}
inline int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  *flag = *request == MPI_REQUEST_NULL || (*request)->is_done ? 1 : 0;
  if (*flag == 0 || *request == MPI_REQUEST_NULL) return MPI_SUCCESS;
  const MPI_Status found = (*request)->status;
  if (status != MPI_STATUS_IGNORE) *status = found;
  std::erase_if(ullage::single::process.receives, [&](const auto& receive) { return &receive == *request; });
  *request = MPI_REQUEST_NULL;
  return found.MPI_ERROR;
}
inline int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  int is_done = 0;
  const int code = MPI_Test(request, &is_done, status);
  return is_done != 0 ? code : MPI_ERR_OTHER;
}
inline int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  int code = MPI_SUCCESS;
  for (int i = 0; i < count; ++i)
    if (const int one = MPI_Wait(requests + i, statuses == nullptr ? nullptr : statuses + i); one != MPI_SUCCESS)
      code = one;
  return code;
}
inline int MPI_Recv(void* room, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Irecv(room, count, type, from, tag, comm, &request);
  return code == MPI_SUCCESS ? MPI_Wait(&request, status) : code;
}
inline int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
                        int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
  const int code = MPI_Send(out, out_count, out_type, to, out_tag, comm);
  return code == MPI_SUCCESS ? MPI_Recv(in, in_count, in_type, from, in_tag, comm, status) : code;
}
inline int MPI_Iprobe(int /*from*/, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  *flag = 0;
  for (const ullage::single::Message& message : ullage::single::process.sent) {
    if (*flag != 0 || !fits({comm, tag, nullptr, 0, false, {}}, message)) continue;
    *flag = 1;
    *status = {0, message.tag, MPI_SUCCESS, message.data.size()};
  }
  return MPI_SUCCESS;
}

#include "collectives.h"  // of what stands above
