/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Operating errors: permanent numbers, which travel on the wire, and the exceptions that the client
 * makes of them. An error that a user of the API could react to has its own type. No code decides
 * by the text of a message.
 */
package io.crail.common.error;
