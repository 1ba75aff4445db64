/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Jobs of Spark that {@code bin/crail spark} measures, written against Spark's public API. They
 * make their own data, check their results, and know nothing of Crail.
 */
package io.crail.jobs;
