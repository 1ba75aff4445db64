/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The loops of a store, and how a caller waits for them: connections, limits, and futures whose
 * waiting thread drives its loop. This package knows no operation.
 */
package io.crail.client.loop;
