/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.nvmf.NvmeTransport;

/** As {@link KernelTargetTier}, over TCP. */
public final class KernelTcpTargetTier extends KernelTargetTier {
  /** The short name. */
  public static final String NAME = "kerneltargettcp";

  /** Creates the tier; for {@link java.util.ServiceLoader}. */
  public KernelTcpTargetTier() {
    super(NAME, NvmeTransport.TCP);
  }
}
