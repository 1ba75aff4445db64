/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import io.crail.protocol.part.Region;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.UUID;

/**
 * A datanode as a client knows it.
 *
 * @param uuid identity of the datanode process; a restarted one has another
 * @param tier name of its tier
 * @param address where its tier serves, unresolved
 * @param storageClass the class that it serves
 * @param checksGeneration whether its tier checks the generation with each request
 * @param directory directory of its region files on its host, empty when they can not be mapped
 * @param regions its regions by index, as far as the asked namenode knows them
 */
public record DatanodeDescription(
    UUID uuid,
    String tier,
    InetSocketAddress address,
    int storageClass,
    boolean checksGeneration,
    String directory,
    Map<Integer, Region> regions) {}
