/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/**
 * A value in a table. When its key is put again, whoever still holds this one gets a {@code
 * StaleNodeException} at the next access to its bytes.
 */
public interface CrailKeyValue extends CrailFile {}
