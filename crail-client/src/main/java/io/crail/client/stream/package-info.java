/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Streams, direct and buffered: operations on a file's bytes, cut into one piece for each extent. A
 * stream knows its file through an interface, and never the handle's class.
 */
package io.crail.client.stream;
