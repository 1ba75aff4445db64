/* SPDX-License-Identifier: Apache-2.0 */
/** Runs a load: in threads of this process, or in several processes. */
package io.crail.bench.run;
