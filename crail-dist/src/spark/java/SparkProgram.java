/* SPDX-License-Identifier: Apache-2.0 */
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.sum;

import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * A program of Spark that knows Crail by a path only. It says what it found, then where classes
 * come from. Arguments: a directory that is not there yet.
 */
public final class SparkProgram {
  private static final int ROWS = 100_000;

  private SparkProgram() {}

  public static void main(String[] arguments) throws Exception {
    String top = arguments[0];
    try (SparkSession spark = SparkSession.builder().appName("SparkProgram").getOrCreate()) {
      text(spark, top + "/words");
      tables(spark, top + "/table");
      list(spark, new Path(top));
      JavaSparkContext.fromSparkContext(spark.sparkContext())
          .parallelize(List.of(1, 2), 2)
          .map(each -> loader("io.crail.hadoop.CrailFileSystem"))
          .distinct()
          .collect()
          .forEach(loader -> System.out.println("task: " + loader));
    }
    System.out.println("driver: " + loader("io.crail.hadoop.CrailFileSystem"));
    System.out.println("driver: " + loader("org.apache.hadoop.fs.FileSystem"));
    System.out.println("driver: " + loader("io.netty.buffer.Unpooled"));
  }

  private static void text(SparkSession spark, String directory) {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    List<String> lines = List.of("to be", "or not", "to be");
    context.parallelize(lines, 3).saveAsTextFile(directory);
    List<Tuple2<String, Integer>> counts =
        context
            .textFile(directory)
            .flatMap(line -> Arrays.asList(line.split(" ")).iterator())
            .mapToPair(word -> new Tuple2<>(word, 1))
            .reduceByKey(Integer::sum)
            .sortByKey()
            .collect();
    System.out.println("words: " + counts);
  }

  private static void tables(SparkSession spark, String directory) {
    Dataset<Row> rows =
        spark.range(ROWS).selectExpr("id", "id % 3 as third", "concat('row ', id) as text");
    rows.write().partitionBy("third").parquet(directory);
    rows.limit(10).write().mode("append").partitionBy("third").parquet(directory);
    System.out.println("appended: " + spark.read().parquet(directory).count());
    rows.write().mode("overwrite").partitionBy("third").parquet(directory);
    Dataset<Row> read = spark.read().parquet(directory);
    System.out.println("same rows: " + hash(rows).equals(hash(read)));
    read.groupBy("third")
        .agg(count(col("id")), sum(col("id")))
        .orderBy("third")
        .collectAsList()
        .forEach(row -> System.out.println("third: " + row.mkString(" ")));
    System.out.println(
        "row: " + read.filter("id = 77777").select("text").collectAsList().get(0).getString(0));
  }

  private static Row hash(Dataset<Row> rows) {
    return rows.selectExpr("count(*)", "sum(hash(id, text))").head();
  }

  private static void list(SparkSession spark, Path top) throws Exception {
    FileSystem files = top.getFileSystem(spark.sparkContext().hadoopConfiguration());
    for (String directory : List.of("words", "table")) {
      FileStatus[] found = files.listStatus(new Path(top, directory));
      System.out.println(
          directory
              + ": "
              + Stream.of(found)
                  .map(status -> status.getPath().getName())
                  .collect(Collectors.toCollection(TreeSet::new)));
    }
    FileContext context = FileContext.getFileContext(top.toUri(), files.getConf());
    System.out.println("FileContext: " + context.util().exists(new Path(top, "words/_SUCCESS")));
    System.out.println("deleted: " + files.delete(top, true) + ", there: " + files.exists(top));
  }

  /** Who loads a class for the calling thread, and from where. */
  private static String loader(String name) throws ClassNotFoundException {
    Class<?> type = Class.forName(name, false, Thread.currentThread().getContextClassLoader());
    String from = type.getProtectionDomain().getCodeSource().getLocation().getPath();
    return type.getSimpleName()
        + " in "
        + from.substring(from.lastIndexOf('/') + 1)
        + " by "
        + type.getClassLoader().getClass().getSimpleName();
  }
}
