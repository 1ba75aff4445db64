/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Streams, direct and buffered: operations on a file's bytes, cut into a piece for each extent. A
 * stream knows of its file what an interface tells, and never the handle's class.
 */
package io.crail.client.stream;
