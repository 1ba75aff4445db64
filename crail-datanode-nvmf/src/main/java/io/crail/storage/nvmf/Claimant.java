/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import java.util.UUID;

/**
 * A datanode that claims namespaces.
 *
 * @param datanode its identity
 * @param host its host, for messages
 * @param overwrite whether it may overwrite data that are not Crail's
 * @param drainMillis how long its clients' requests may be executed after its end
 * @param quietNanos how long another datanode that lent a namespace must give no sign of life
 */
record Claimant(UUID datanode, String host, boolean overwrite, int drainMillis, long quietNanos) {}
