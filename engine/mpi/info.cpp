// SPDX-License-Identifier: Apache-2.0
#include "mpi/info.hpp"

#include <cerrno>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace ullage::mpi {
namespace {

std::string value_of(MPI_Info info, const char* key) {
  int found = 0;
  int length = 0;
  std::string value;
#if MPI_VERSION >= 4
  if (has_version_4()) {
    // It has a buffer from the start: MPICH 4.0 refuses a length of 0, by which the standard asks for the length alone.
    value.resize(MPI_MAX_INFO_VAL + 1);
    length = static_cast<int>(value.size());  // with the terminating NUL
    check(MPI_Info_get_string(info, key, &length, value.data(), &found), "MPI_Info_get_string");
    if (found == 0) return {};
    if (static_cast<std::size_t>(length) > value.size()) {
      value.resize(static_cast<std::size_t>(length));
      check(MPI_Info_get_string(info, key, &length, value.data(), &found), "MPI_Info_get_string");
    }
    return value.substr(0, value.find('\0'));
  }
#endif
  check(MPI_Info_get_valuelen(info, key, &length, &found), "MPI_Info_get_valuelen");
  if (found == 0 || length <= 0) return {};
  value.resize(static_cast<std::size_t>(length) + 1);
  check(MPI_Info_get(info, key, length, value.data(), &found), "MPI_Info_get");
  return value.substr(0, value.find('\0'));
}

Error refused_hint(const std::string& key, const std::string& why) {
  Error error = errno_error(EINVAL, "hint", key);
  error.kind = ErrorKind::mpi;
  error.text = why;
  return error;
}

}  // namespace

Info::Info() : handle_(std::make_unique<Handle>()) {}
Info::Info(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
Info::Info(Info&&) noexcept = default;

Info& Info::operator=(Info&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

Info::~Info() {
  if (handle_ && handle_->info != MPI_INFO_NULL) MPI_Info_free(&handle_->info);
}

Result<Info> Info::from(const Map& hints) {
  Info info;
  if (hints.empty()) return info;
  check(MPI_Info_create(&info.handle_->info), "MPI_Info_create");
  for (const auto& [key, value] : hints) {
    // Checked here: a library's own answer to these is to end all ranks, MPI_Info having no error handler of its own.
    if (key.empty() || key.size() >= MPI_MAX_INFO_KEY)
      return fail(refused_hint(
          key, "the name of a hint has from 1 to " + std::to_string(MPI_MAX_INFO_KEY - 1) + " characters"));
    if (value.empty() || value.size() >= MPI_MAX_INFO_VAL)
      return fail(refused_hint(
          key, "the value of a hint has from 1 to " + std::to_string(MPI_MAX_INFO_VAL - 1) + " characters"));
    check(MPI_Info_set(info.handle_->info, key.c_str(), value.c_str()), "MPI_Info_set");
  }
  return info;
}

Map Info::to_map() const {
  Map hints;
  if (handle_->info == MPI_INFO_NULL) return hints;
  int count = 0;
  check(MPI_Info_get_nkeys(handle_->info, &count), "MPI_Info_get_nkeys");
  for (int i = 0; i < count; ++i) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    check(MPI_Info_get_nthkey(handle_->info, i, key.data()), "MPI_Info_get_nthkey");
    hints[key.data()] = value_of(handle_->info, key.data());
  }
  return hints;
}

int call_foreign(void (*function)(), std::int64_t id, const Comm& comm, const Info& hints) {
  using Call = int (*)(std::int64_t, MPI_Comm, MPI_Info);
  return reinterpret_cast<Call>(function)(id, comm.handle().comm, hints.handle().info);
}

Map hints_of_foreign(const void* file) {
  auto handle = std::make_unique<Info::Handle>();
  if (MPI_File_get_info(*static_cast<const MPI_File*>(file), &handle->info) != MPI_SUCCESS) return {};
  return Info(std::move(handle)).to_map();
}

}  // namespace ullage::mpi
