/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.NvmeHost;
import io.crail.rpc.ClientLoop;

/**
 * What a client reaches targets with. Used only in the loop.
 *
 * @param loop the loop
 * @param host who asks
 * @param limits of its controllers
 * @param initiators make them
 */
record TargetAccess(
    ClientLoop loop, NvmeHost host, ControllerLimits limits, Initiators initiators) {}
