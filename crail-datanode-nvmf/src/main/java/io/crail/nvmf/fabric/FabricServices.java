/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.fabric;

import io.crail.nvmf.Fabric;
import io.crail.rpc.ClientLoop;
import java.util.concurrent.Executor;

/**
 * What controllers work with.
 *
 * @param loop the loop
 * @param fabric the network, for this loop
 * @param authentication takes the work of authentications, for which the loop has no time
 */
record FabricServices(ClientLoop loop, Fabric fabric, Executor authentication) {}
