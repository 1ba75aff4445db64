/* SPDX-License-Identifier: Apache-2.0 */
/** Methods that lists of steps can call. Those of others come from the class path. */
package io.crail.namenode.classes;
