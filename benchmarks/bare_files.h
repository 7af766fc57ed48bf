// SPDX-License-Identifier: Apache-2.0
// Files as backend posix opens them: below a folder, without symbolic links. Include it after _GNU_SOURCE is defined.
#pragma once

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bare_process.h"

static int open_below(int folder, const char* name, int flags) {
  struct open_how how;
  memset(&how, 0, sizeof how);
  how.flags = (unsigned)(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? 0600 : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const int file = (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
  require(file >= 0, name);
  return file;
}

static void move(int file, int writes, char* data, size_t bytes, off_t at) {
  const ssize_t moved = writes ? pwrite(file, data, bytes, at) : pread(file, data, bytes, at);
  require(moved == (ssize_t)bytes, "transfer");
}
