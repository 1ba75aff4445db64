/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The memory of a datanode's regions: their files, which bytes belong to which generation, which
 * writes are under way, and how another process of the same host maps them. Knows nothing about
 * networks, clients or tiers.
 */
package io.crail.storage.region;
