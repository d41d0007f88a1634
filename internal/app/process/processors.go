package process

import "runtime"

// overlap is how many goroutines run at once for each processor.
const overlap = 2

// ShareProcessors lets more goroutines run at once than there are processors, so that the kernel divides them. While all that the runtime
// uses are busy, it looks at the network every 10 ms only, and a request that waits for the database once waits for that twice. Where
// GOMAXPROCS is set (see package runtime), that is the number; where the process may not use all processors of the machine, the runtime's
// own is: more would be used up early in each period of the kernel, and nothing runs for the rest of it.
func (p *Process) ShareProcessors() {
	if _, set := p.Env.LookupEnv("GOMAXPROCS"); set || runtime.GOMAXPROCS(0) < runtime.NumCPU() {
		return
	}
	runtime.GOMAXPROCS(overlap * runtime.NumCPU())
}
