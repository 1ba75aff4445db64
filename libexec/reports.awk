# SPDX-License-Identifier: Apache-2.0
# Reads the reports of Surefire, and those of JUnit's own launcher. Needs "show", one of
#   counts:   the sums "tests failures errors skipped flaky". A flaky test failed, and passed when it
#             was run again. The sums in the reports themselves are not used: they miss tests that ran
#             again, and tests in a nested class of a superclass.
#   failures: each test that failed, its report relative to the directory "below", the first lines
#             of why
#   classes:  the class of each test that failed, once
#   times:    "seconds class" of each class
#   flaky:    as failures, for each flaky test, with the reason of its first failure
#   skips:    a line "skipped: <what> (<reason>)" for each reason why tests were skipped

BEGIN { longest = 15 }

FNR == 1 { end_of_report() }

# The output of a test may look like anything.
!inside && /<system-(out|err)>/ { noise = 1 }

noise {
  if (/<\/system-(out|err)>/) {
    noise = 0
  }
  next
}

# Surefire has a report for each class. Its time includes the common setup of all its tests.
/<testsuite / {
  suite = attribute("name")
  if (suite ~ /[.]/) {
    took(suite)
  } else {
    suite = ""
  }
}

/<property name="surefire.rerunFailingTestsCount" value="[1-9]/ { again = 1 }

!inside && /<testcase / {
  new_test(attribute("classname"), attribute("name"))
  if (!suite) {
    took(attribute("classname"))
  }
}

!inside && /^ *<(failure|error|skipped|flakyFailure|flakyError)[ >\/]/ {
  match($0, /<[a-zA-Z]+/)
  element = substr($0, RSTART + 1, RLENGTH - 1)
  # A test that ran more than twice has several of these.
  wanted = outcome[tests] == "passed"
  if (wanted) {
    outcome[tests] = element ~ /^flaky/ ? "flaky" : element
    message[tests] = attribute("message")
  }
  if (!match($0, /<!\[CDATA\[/)) {
    # The reason of a flaky test's failure is in an element inside this one.
    awaited = wanted && element ~ /^flaky/ && !/\/>/
    next
  }
  inside = 1
  $0 = substr($0, RSTART + RLENGTH)
}

!inside && /<stackTrace><!\[CDATA\[/ {
  inside = 1
  wanted = awaited
  awaited = 0
  match($0, /<!\[CDATA\[/)
  $0 = substr($0, RSTART + RLENGTH)
}

!inside && /^ *<rerun(Failure|Error)[ >]|<!-- a skipped test execution in re-run phase -->/ {
  failed_again[tests] = 1
}

inside {
  last = sub(/\]\]><\/(failure|error|skipped|stackTrace|flakyFailure|flakyError)>.*$/, "")
  gsub(/\]\]\]\]><!\[CDATA\[>/, "]]>")
  if (wanted) {
    note($0)
  }
  if (last) {
    inside = 0
  }
}

END {
  end_of_report()
  if (show == "counts") {
    print sum["all"] + 0, sum["failure"] + 0, sum["error"] + 0, sum["skipped"] + 0, sum["flaky"] + 0
  }
  for (kind = 1; kind <= kinds; kind++) {
    reason = reasons[kind]
    what = skips[reason] == 1 ? first[reason] : skips[reason] " tests"
    print "skipped: " what " (" reason ")"
  }
}

function took(class,    seconds) {
  seconds = attribute("time")
  gsub(",", "", seconds)
  if (show == "times") {
    printf "%.3f %s\n", seconds, class
  }
}

function new_test(class, name) {
  tests++
  # The number of a run of a class stands in the names of its tests too.
  sub(/\[[0-9]+\]$/, "", class)
  class_of[tests] = class
  name_of[tests] = name
  outcome[tests] = "passed"
}

# A line of the reason for a failure or a skip.
function note(line) {
  if (line == "" || is_plumbing(line)) {
    return
  }
  if (++lines[tests] <= longest) {
    line_of[tests, lines[tests]] = line
  }
}

# Prints and forgets the tests of a report.
function end_of_report(    test) {
  for (test = 1; test <= tests; test++) {
    if (outcome[test] ~ /^(passed|flaky)$/) {
      passed[class_of[test]] = 1
    }
  }
  for (test = 1; test <= tests; test++) {
    # The set-up or the end of a class has failed. If it succeeded the next time, Surefire does not
    # report it.
    if (again && name_of[test] == "" && outcome[test] ~ /^(failure|error)$/ && !failed_again[test] \
      && passed[class_of[test]]) {
      outcome[test] = "flaky"
    }
    # When a whole class ran again, its tests are there twice.
    if (again && outcome[test] == "passed" && seen[class_of[test], name_of[test]]++) {
      continue
    }
    sum["all"]++
    sum[outcome[test]]++
    if (lines[test] == 0 && message[test] != "") {
      lines[test] = 1
      line_of[test, 1] = message[test]
    }
    if (show == "failures" && outcome[test] ~ /^(failure|error)$/) {
      print "  " title(test) "\n    " report
      print_lines(test)
    } else if (show == "classes" && outcome[test] ~ /^(failure|error)$/) {
      if (!told[class_of[test]]++) {
        print class_of[test]
      }
    } else if (show == "flaky" && outcome[test] == "flaky") {
      print "flaky: " title(test) "\n    " report
      print_lines(test)
    } else if (show == "skips" && outcome[test] == "skipped") {
      skip(line_of[test, 1], test)
    }
  }
  tests = again = inside = awaited = noise = 0
  split("", lines)
  split("", line_of)
  split("", message)
  split("", failed_again)
  split("", passed)
  split("", seen)
  report = FILENAME
  if (index(report, below "/") == 1) {
    report = substr(report, length(below) + 2)
  }
}

function title(test) {
  return name_of[test] == "" ? class_of[test] : class_of[test] "." name_of[test]
}

function print_lines(test,    i, line) {
  for (i = 1; i <= lines[test] && i <= longest; i++) {
    line = line_of[test, i]
    sub(/^\t/, "  ", line)
    print "      " substr(line, 1, 400)
  }
  if (lines[test] > longest) {
    print "      (" (lines[test] - longest) " more lines in the report)"
  }
}

function skip(reason, test) {
  sub(/^[A-Za-z0-9_.$]*TestAbortedException:? ?/, "", reason)
  sub(/^Assumption failed:? ?/, "", reason)
  if (reason == "") {
    reason = "no reason given"
  }
  if (skips[reason]++ == 0) {
    reasons[++kinds] = reason
    first[reason] = title(test)
  }
}

# A line of a stack that says nothing about the test.
function is_plumbing(line) {
  return line ~ /^[ \t]*at (org\.junit\.|java\.base\/(java\.util\.|java\.lang\.reflect\.))/
}

function attribute(name) {
  if (!match($0, " " name "=\"[^\"]*\"")) {
    return ""
  }
  return text(substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4))
}

function text(xml) {
  gsub(/&#10;/, " ", xml)
  gsub(/&lt;/, "<", xml)
  gsub(/&gt;/, ">", xml)
  gsub(/&quot;/, "\"", xml)
  gsub(/&apos;/, "'", xml)
  gsub(/&amp;/, "\\&", xml)
  return xml
}
