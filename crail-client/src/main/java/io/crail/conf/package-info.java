/* SPDX-License-Identifier: Apache-2.0 */
/** The configuration of a store. The modules that use a key declare it. */
package io.crail.conf;
