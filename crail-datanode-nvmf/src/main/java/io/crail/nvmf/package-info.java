/* SPDX-License-Identifier: Apache-2.0 */

/**
 * A host (initiator) of NVMe over Fabrics: commands, queues and controllers. What carries the
 * capsules is in packages below. Sources: NVM Express Base Specification 2.0 and its NVM Command
 * Set; the names are theirs.
 */
package io.crail.nvmf;
