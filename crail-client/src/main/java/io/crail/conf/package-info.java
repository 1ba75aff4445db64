/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The configuration of a store, and the constants that programs for Apache Crail read. The modules
 * that use a key declare it.
 */
package io.crail.conf;
