/* SPDX-License-Identifier: Apache-2.0 */
/** That plans can be repeated, and networks be cut. */
package io.crail.testkit.nemesis;
