/* SPDX-License-Identifier: Apache-2.0 */

/**
 * A target of NVMe/TCP for tests: namespaces in memory, and faults by plan. Layouts are written
 * here a second time, independently of the host's, so that a common mistake is not hidden; the
 * kernel's host judges the target, and the kernel's target judges the host.
 */
package io.crail.testkit.nvmf;
