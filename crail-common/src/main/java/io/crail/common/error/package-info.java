/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Operating errors: permanent numbers that travel on the wire, and the exceptions that they become
 * at the client, with a type of their own where a user of the API could react to it. Nobody decides
 * by a message's text.
 */
package io.crail.common.error;
