# SPDX-License-Identifier: Apache-2.0
# Reads the reports of Surefire. Needs "show", one of
#   failures: each test that failed, its report relative to the directory "below", the first lines
#             of why
#   skips:    why tests were skipped, a line "skipped: <what> (<reason>)" for each reason

BEGIN { longest = 15 }

/<testcase / {
  class = attribute("classname")
  test = attribute("name") == "" ? class : class "." attribute("name")
}

/^ *<(failure|error|skipped)[ >\/]/ {
  element = $1
  gsub(/[^a-z]/, "", element)
  told = left_out = 0
  if (element != "skipped" && show == "failures") {
    file = FILENAME
    if (index(file, below "/") == 1) {
      file = substr(file, length(below) + 2)
    }
    print "  " test "\n    " file
  }
  if (!match($0, /<!\[CDATA\[/)) {
    tell(attribute("message"))
    end()
    next
  }
  inside = 1
  $0 = substr($0, RSTART + RLENGTH)
}

inside {
  last = sub(/\]\]><\/(failure|error|skipped)>.*$/, "")
  gsub(/\]\]\]\]><!\[CDATA\[>/, "]]>")
  tell($0)
  if (last) {
    inside = 0
    end()
  }
}

END {
  for (kind = 1; kind <= kinds; kind++) {
    reason = reasons[kind]
    what = skips[reason] == 1 ? first[reason] : skips[reason] " tests"
    print "skipped: " what " (" reason ")"
  }
}

# A line of why a test failed or was skipped.
function tell(line) {
  if (line == "" || is_plumbing(line)) {
    return
  }
  if (element == "skipped") {
    if (++told == 1 && show == "skips") {
      skip(line)
    }
  } else if (show == "failures") {
    if (++told <= longest) {
      sub(/^\t/, "  ", line)
      print "      " substr(line, 1, 400)
    } else {
      left_out++
    }
  }
}

function end() {
  if (left_out > 0) {
    print "      (" left_out " more lines in the report)"
  }
  if (element == "skipped" && told == 0 && show == "skips") {
    skip("no reason given")
  }
}

function skip(reason) {
  sub(/^[A-Za-z0-9_.$]*TestAbortedException:? ?/, "", reason)
  sub(/^Assumption failed:? ?/, "", reason)
  if (reason == "") {
    reason = "no reason given"
  }
  if (skips[reason]++ == 0) {
    reasons[++kinds] = reason
    first[reason] = test
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
