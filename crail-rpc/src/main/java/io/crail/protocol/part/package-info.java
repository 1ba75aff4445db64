/* SPDX-License-Identifier: Apache-2.0 */
/** What several messages have in common: nodes and their paths, extents, regions, generations. */
package io.crail.protocol.part;
