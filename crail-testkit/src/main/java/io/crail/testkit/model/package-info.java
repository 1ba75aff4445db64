/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A model of what a store must hold after operations that took place, did not take place, or have
 * an unknown outcome: bytes that tell their writer, the contents that may be found under a name,
 * and a file that keeps this for all processes of a test and survives them. Nothing here talks to a
 * store.
 */
package io.crail.testkit.model;
