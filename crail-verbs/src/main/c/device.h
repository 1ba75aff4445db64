/* SPDX-License-Identifier: Apache-2.0 */
/* What devices and limits of the process are. 0 or more, or -errno. */
#ifndef CRAIL_DEVICE_H
#define CRAIL_DEVICE_H

#include <infiniband/verbs.h>
#include <stdint.h>

#define NO_LIMIT INT64_MAX

/* All devices, ended by NULL; free with ibv_free_device_list unless NULL. Returns how many. */
int device_list(struct ibv_device ***list);

/*
 * A card lets a device go whoever uses it, and the kernel answers EIO afterwards to whoever destroys
 * what it has destroyed itself; libibverbs then keeps its part, unless this was called, once it has
 * looked at the devices first. Not by RDMAV_ALLOW_DISASSOC_DESTROY, from which libibverbs takes it:
 * other threads may be reading the environment. A libibverbs that does not have it keeps its part.
 */
void device_let_destroy_removed(void);

/* -ENODEV when there is none of that name. */
int device_open(const char *name, struct ibv_context **context);

#define NO_ENTRY INT64_C(0)
#define UNSEEN_ENTRY INT64_C(-1)

/*
 * The entry in sysfs of a context's device: its inode, which no other gets that takes its name;
 * NO_ENTRY when it has gone; UNSEEN_ENTRY when this process sees that of no device.
 */
int64_t device_entry(const struct ibv_context *context);

/* Whether the device of a context is still there, of which device_entry was this. */
int device_present(const struct ibv_context *context, int64_t entry);

/* Bytes of a path MTU. */
int mtu_bytes(enum ibv_mtu mtu);

/* How much memory this process may lock. */
int64_t memlock_limit(void);

#endif
