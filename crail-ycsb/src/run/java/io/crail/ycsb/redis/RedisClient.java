/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * Redis for YCSB. It works as YCSB's own binding, which no Maven repository has: a record is a
 * hash, and a sorted set holds all keys. Where YCSB's binding waits for two answers one after the
 * other, this one sends both requests at once. Properties: {@code redis.host}, {@code redis.port}.
 */
public final class RedisClient extends DB {
  private static final byte[] INDEX = bytes("_indices");
  private static final byte[] WITHOUT_END = bytes("+");

  private Jedis redis;

  /** For YCSB. */
  public RedisClient() {}

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static Map<byte[], byte[]> hash(Map<String, ByteIterator> values) {
    Map<byte[], byte[]> hash = new HashMap<>();
    values.forEach((name, value) -> hash.put(bytes(name), value.toArray()));
    return hash;
  }

  private static void fill(Map<byte[], byte[]> hash, Map<String, ByteIterator> result) {
    hash.forEach(
        (name, value) ->
            result.put(new String(name, StandardCharsets.UTF_8), new ByteArrayByteIterator(value)));
  }

  @Override
  public void init() throws DBException {
    Properties properties = getProperties();
    redis =
        new Jedis(
            properties.getProperty("redis.host", "127.0.0.1"),
            Integer.parseInt(properties.getProperty("redis.port", "6379")));
    redis.connect();
  }

  @Override
  public void cleanup() throws DBException {
    redis.close();
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    if (fields == null) {
      fill(redis.hgetAll(bytes(key)), result);
    } else {
      List<String> names = new ArrayList<>(fields);
      byte[][] wanted = names.stream().map(RedisClient::bytes).toArray(byte[][]::new);
      put(names, redis.hmget(bytes(key), wanted), result);
    }
    return result.isEmpty() ? Status.NOT_FOUND : Status.OK;
  }

  private static void put(
      List<String> names, List<byte[]> values, Map<String, ByteIterator> result) {
    for (int i = 0; i < names.size(); i++) {
      if (values.get(i) != null) {
        result.put(names.get(i), new ByteArrayByteIterator(values.get(i)));
      }
    }
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    Pipeline pipeline = redis.pipelined();
    pipeline.hmset(bytes(key), hash(values));
    pipeline.zadd(INDEX, 0, bytes(key));
    pipeline.syncAndReturnAll();
    return Status.OK;
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    redis.hmset(bytes(key), hash(values));
    return Status.OK;
  }

  @Override
  public Status delete(String table, String key) {
    Pipeline pipeline = redis.pipelined();
    Response<Long> deleted = pipeline.del(bytes(key));
    pipeline.zrem(INDEX, bytes(key));
    pipeline.sync();
    return deleted.get() == 0 ? Status.NOT_FOUND : Status.OK;
  }

  @Override
  public Status scan(
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    // All keys have the same score, so they are sorted by key.
    Set<byte[]> keys = redis.zrangeByLex(INDEX, bytes("[" + startkey), WITHOUT_END, 0, recordcount);
    Pipeline pipeline = redis.pipelined();
    List<Response<Map<byte[], byte[]>>> records = new ArrayList<>();
    for (byte[] key : keys) {
      records.add(pipeline.hgetAll(key));
    }
    pipeline.sync();
    for (Response<Map<byte[], byte[]>> record : records) {
      HashMap<String, ByteIterator> values = new HashMap<>();
      fill(record.get(), values);
      if (fields != null) {
        values.keySet().retainAll(fields);
      }
      result.add(values);
    }
    return Status.OK;
  }
}
