/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A log that many clients append to, on compound operations of key-values: nothing of it runs at a
 * namenode. Its interface is that of ZLog. Uses the public API of the client only.
 */
package io.crail.log;
