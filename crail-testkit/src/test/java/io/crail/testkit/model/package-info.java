/* SPDX-License-Identifier: Apache-2.0 */
/** Tests that the model notices errors. */
package io.crail.testkit.model;
