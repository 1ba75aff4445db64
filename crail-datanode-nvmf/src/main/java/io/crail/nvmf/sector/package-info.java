/* SPDX-License-Identifier: Apache-2.0 */

/**
 * Bytes on a device that reads and writes whole sectors: reads and writes of any offset and length.
 */
package io.crail.nvmf.sector;
