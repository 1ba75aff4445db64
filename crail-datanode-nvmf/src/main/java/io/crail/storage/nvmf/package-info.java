/* SPDX-License-Identifier: Apache-2.0 */

/** The NVMf tier: blocks on NVMe namespaces, behind any target of NVMe over Fabrics. */
package io.crail.storage.nvmf;
