/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A file system of Hadoop around a slow one. The blocks of its files, and their status, are values
 * in Crail. No error of Crail reaches a reader: the slow file system answers then. All calls go
 * through the public API of the client.
 */
package io.crail.cache;
