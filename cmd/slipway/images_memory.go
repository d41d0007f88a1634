package main

import (
	"time"

	"slipway/internal/platform/idlememory"
)

// imagesGC is how much the heap may grow before it is collected, in percent: what lives is
// little, and answers leave hardly anything behind.
const imagesGC = 50

// imagesPace is how often memory is given back: the program has the whole service in it,
// some 90 MB, of which sending images needs a few. The heap is collected at its own pace
// after the start, which leaves as much again as what lives.
var imagesPace = idlememory.Pace{Pages: time.Second, Heap: time.Hour}
