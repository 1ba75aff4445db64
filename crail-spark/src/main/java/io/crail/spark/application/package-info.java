/* SPDX-License-Identifier: Apache-2.0 */
/** What the processes of one Spark application have of Crail: a store each, and common roots. */
package io.crail.spark.application;
