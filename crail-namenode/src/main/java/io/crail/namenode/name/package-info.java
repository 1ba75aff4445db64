/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Names and paths as the bytes of requests: checked, compared and hashed where they are, without
 * objects. Knows no node.
 */
package io.crail.namenode.name;
