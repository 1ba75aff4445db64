/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The base of all modules: error codes and their exceptions, clocks, configuration and small
 * helpers over bytes. Nothing here knows a network, an operation or a node type.
 */
package io.crail.common;
