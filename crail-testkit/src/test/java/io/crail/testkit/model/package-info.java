/* SPDX-License-Identifier: Apache-2.0 */
/** That the model notices what is wrong. */
package io.crail.testkit.model;
