/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What every room of Crail stands on: error codes and the exceptions they become, clocks, deadlines
 * and small helpers over bytes. Nothing here knows a network, an operation or a node type.
 */
package io.crail.common;
