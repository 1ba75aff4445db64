/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tests of the datanode daemon: with scripted namenodes in virtual time, and with real namenodes.
 */
package io.crail.testkit.datanode;
