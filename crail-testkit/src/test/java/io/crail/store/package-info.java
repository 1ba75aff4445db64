/* SPDX-License-Identifier: Apache-2.0 */
/** What a client sees of a whole cluster, run within one process over loopback. */
package io.crail.store;
