// SPDX-License-Identifier: Apache-2.0
#include "run/record_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/json.hpp"

namespace ullage {

RecordWriter::RecordWriter(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

Result<RecordWriter> RecordWriter::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) {
    Error error = errno_error(errno, "open records", path);
    error.kind = ErrorKind::environment;
    return fail(std::move(error));
  }
  return RecordWriter(Descriptor(fd), path);
}

void RecordWriter::write(const Json& record) {
  if (!status_) return;  // what comes after a gap would look whole
  const std::string line = json_text(record) + '\n';
  const off_t before = ::lseek(file_.get(), 0, SEEK_END);
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::write(file_.get(), line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      status_ = fail(errno_error(errno, "write records", path_));
      // Part of a line would swallow what is appended later.
      if (before >= 0) (void)!::ftruncate(file_.get(), before);
      return;
    }
    done += static_cast<std::size_t>(n);
  }
}

}  // namespace ullage
