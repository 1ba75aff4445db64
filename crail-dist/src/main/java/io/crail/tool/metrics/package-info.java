/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a server reports about itself over HTTP: its metrics, whether it is alive, and whether it is
 * ready. Nothing here is used by the paths of metadata and data.
 */
package io.crail.tool.metrics;
