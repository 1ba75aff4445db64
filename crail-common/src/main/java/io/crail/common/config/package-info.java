/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Typed configuration. A key is declared once with type, default, check and sentence. A {@link
 * io.crail.common.config.Configuration} is frozen before use and refuses undeclared keys.
 */
package io.crail.common.config;
