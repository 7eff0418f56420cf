# SPDX-License-Identifier: Apache-2.0
# Is this a Mermaid flowchart as `ekman plan --format mermaid` may write it? One statement a line; a
# link joins nodes that were declared; boxes are closed; labels hold no bare quotation mark.
function wrong(why) { print FILENAME ":" FNR ": " why ": " $0; bad = 1 }
BEGIN { label = "\"([^\"<>#]|<br/>|#[0-9]+;)*\"" }
FNR == 1 { if ($0 != "flowchart LR") wrong("not the head of a flowchart"); next }
$0 ~ "^  subgraph region[0-9]+ \\[" label "\\]$" { if (depth++ > 0) wrong("a box in a box"); next }
$0 == "  end" { if (--depth < 0) wrong("closes no box"); next }
$0 ~ "^  (  )?n[0-9]+(\\[" label "\\]|\\[\\(" label "\\)\\])$" {
  id = $1
  sub(/\[.*/, "", id)
  if (id in seen) wrong("declared twice")
  if (depth > 0 && $0 !~ /^    n/) wrong("not set in")
  seen[id] = 1
  nodes++
  next
}
$0 ~ "^  n[0-9]+ (-->|-\\.->)\\|" label "\\| n[0-9]+$" {
  if (depth > 0) wrong("a link in a box")
  if (!($1 in seen) || !($NF in seen)) wrong("joins what is not declared")
  links++
  next
}
{ wrong("no statement") }
END {
  if (depth != 0) { print "a box is not closed"; bad = 1 }
  print nodes + 0 " nodes, " links + 0 " links"
  exit bad
}
