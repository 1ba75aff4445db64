/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Operating errors: permanent numbers that travel on the wire, and the typed exceptions that they
 * become at the client. Nobody decides by a message's text.
 */
package io.crail.common.error;
