/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where the bytes of a file lie: locations that are known, asked for ahead and replaced. Nothing
 * here moves a byte.
 */
package io.crail.client.space;
