/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The loops of a store, and how a caller waits for what they bring: connections, limits, and
 * futures whose waiting thread drives its loop. No operation is known here.
 */
package io.crail.client.loop;
