/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Who asks: the login that opens a connection, as a loop of messages, and the caller in whom it
 * ends. It knows neither transports nor operations, so connections of metadata and of data share
 * it.
 */
package io.crail.rpc.login;
