/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How a program configures a store. The keys themselves are declared by the rooms that use them.
 */
package io.crail.conf;
