/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Operating errors: permanent numbers, which travel on the wire, and the typed exceptions that the
 * client makes of them. No code decides by the text of a message.
 */
package io.crail.common.error;
