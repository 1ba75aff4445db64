/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The data of a job, which end with it. A job has a directory with a lease, and {@link
 * io.crail.job.CrailJob} renews that as long as its process lives.
 */
package io.crail.job;
