/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Typed configuration: a key is declared once with type, default, check and sentence; a {@link
 * io.crail.common.config.Configuration} is frozen before use and refuses what no key declares.
 */
package io.crail.common.config;
