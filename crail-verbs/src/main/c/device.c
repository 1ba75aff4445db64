/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "result.h"

int device_list(struct ibv_device ***list) {
  int count = 0;
  errno = 0;
  *list = ibv_get_device_list(&count);
  if (*list != NULL) {
    return count;
  }
  /* A kernel without RDMA has no devices; that is no failure. */
  return errno == ENOSYS || errno == ENOENT || errno == 0 ? 0 : -errno;
}

int device_open(const char *name, struct ibv_context **context) {
  struct ibv_device **list;
  int count = device_list(&list);
  int result = count < 0 ? count : -ENODEV;
  for (int i = 0; i < count; i++) {
    if (strcmp(ibv_get_device_name(list[i]), name) == 0) {
      errno = 0;
      *context = ibv_open_device(list[i]);
      result = *context != NULL ? 0 : last_error();
      break;
    }
  }
  if (list != NULL) {
    ibv_free_device_list(list);
  }
  return result;
}

int device_present(const struct ibv_context *context) {
  /* Goes first, before the kernel waits for whoever uses the device. */
  return access(context->device->dev_path, F_OK) == 0 || errno != ENOENT;
}

int mtu_bytes(enum ibv_mtu mtu) { return mtu >= IBV_MTU_256 ? 128 << mtu : 0; }

/* The kernel counts only the rights in the first name space of users. */
static int in_first_user_namespace(void) {
  unsigned inside = 1;
  unsigned outside = 1;
  unsigned count = 0;
  FILE *map = fopen("/proc/self/uid_map", "re");
  if (map == NULL) {
    return 1;
  }
  int read = fscanf(map, "%u %u %u", &inside, &outside, &count);
  fclose(map);
  return read == 3 && inside == 0 && outside == 0 && count == UINT32_MAX;
}

static int may_lock_any(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  return syscall(SYS_capget, &header, data) == 0 &&
         (data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK)) != 0 &&
         in_first_user_namespace();
}

int64_t memlock_limit(void) {
  struct rlimit limit;
  if (may_lock_any() || getrlimit(RLIMIT_MEMLOCK, &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > (rlim_t)NO_LIMIT) {
    return NO_LIMIT;
  }
  return (int64_t)limit.rlim_cur;
}
