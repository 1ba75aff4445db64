/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import java.util.Locale;

/** The kinds of networks over which a target is reached. */
public enum NvmeTransport {
  /** NVMe over TCP. */
  TCP,
  /** NVMe over RDMA. */
  RDMA;

  /** As users write it. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
