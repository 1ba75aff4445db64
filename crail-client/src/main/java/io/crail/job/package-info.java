/* SPDX-License-Identifier: Apache-2.0 */
/** The data of a job, which end with it. */
package io.crail.job;
