/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What programs for Apache Crail use beside its API. Nothing in Crail needs these classes, and new
 * programs do not either.
 */
package io.crail.utils;
