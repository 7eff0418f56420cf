#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A wrong option ends with status 2 and a sentence that says what is allowed, before anything is read.
. "$(dirname "$0")/lib.sh"

expect_failure 2 'no input files' 'ekman sample' -- "$ekman" eof
expect_failure 2 'no input files' -- "$ekman" stats
expect_failure 2 'eof, stats or run' -- "$ekman" plan
expect_failure 2 "from 1.*or 'all'.*'none'" -- "$ekman" eof x.nc --modes none
expect_failure 2 '--modes' -- "$ekman" eof x.nc --modes 0
expect_failure 2 'auto, host or cuda' "'gpu'" -- "$ekman" eof x.nc --backend gpu
expect_failure 2 'graph, stream or serial' -- "$ekman" eof x.nc --launch fast
expect_failure 2 'from 0 to 9' -- "$ekman" stats x.nc --deflate 10
expect_failure 2 '--memory takes a size' -- "$ekman" stats x.nc --memory 8Q
expect_failure 2 'float64 or float32' -- "$ekman" stats x.nc --precision double
expect_failure 2 '--ddof' -- "$ekman" stats x.nc --ddof 2
expect_failure 2 '--statistics.*median' 'mean' -- "$ekman" stats x.nc --statistics mean,median
expect_failure 2 'chunk' -- "$ekman" plan eof x.nc --chunk 0
expect_failure 2 'several years need a folder' -- "$ekman" sample --years 1990-1991 -o x.nc
expect_failure 2 '--years' "'199x'" -- "$ekman" sample --years 199x
expect_failure 2 '--years' -- "$ekman" sample --years 1993-1990
expect_failure 2 "both name 'x.out'" -- "$ekman" stats x.nc --json x.out -o x.out
expect_failure 2 "overwrite the input 'x.nc'" -- "$ekman" stats x.nc --json x.nc
expect_failure 2 'no pipeline' 'load in.nc ! upload' -- "$ekman" run
expect_failure 2 'a pipeline is one word' -- "$ekman" run load x.nc
expect_failure 2 'a pipeline already before' -- "$ekman" run 'load x.nc' -f p.txt
expect_failure 2 'auto, host or cuda' -- "$ekman" run 'load x.nc' --backend gpu
expect_no_files
