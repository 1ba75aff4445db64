/* SPDX-License-Identifier: Apache-2.0 */
/** How messages become bytes: layouts of records, and the codecs that are derived from them. */
package io.crail.protocol.codec;
