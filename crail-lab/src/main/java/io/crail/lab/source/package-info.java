/* SPDX-License-Identifier: Apache-2.0 */
/** A slow file system of Hadoop, which a cache is measured in front of. */
package io.crail.lab.source;
