/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/** A node that holds key-values. */
public interface CrailTable extends CrailContainer {}
