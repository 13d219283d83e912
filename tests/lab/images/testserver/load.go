package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// app is what the flags and the requests change.
type app struct {
	settings   settings
	ready      atomic.Bool
	live       atomic.Bool
	ignoreTerm atomic.Bool
	message    atomic.Value // string

	mu     sync.Mutex
	memory []byte
	hits   map[string]int
	grpc   map[string]int // service name to status
}

func newApp(s settings) *app {
	a := &app{settings: s, hits: map[string]int{}, grpc: map[string]int{"": grpcServing}}
	a.ready.Store(!s.notReady)
	a.live.Store(true)
	a.ignoreTerm.Store(s.ignoreTerm)
	a.message.Store(s.message)
	return a
}

// holdMemory keeps n bytes resident, in place of what it held before.
func (a *app) holdMemory(n int64) {
	block := make([]byte, n)
	for i := int64(0); i < n; i += 4096 {
		block[i] = 1
	}
	a.mu.Lock()
	a.memory = block
	a.mu.Unlock()
}

// burn keeps cores busy, for ever where no time is given.
func (a *app) burn(cores int, length time.Duration) {
	for range cores {
		go func() {
			end := time.Now().Add(length)
			for n := 0; length == 0 || n%1000 != 0 || time.Now().Before(end); n++ {
			}
		}()
	}
}

// fork starts processes that only sleep; orphans are handed to the first process of the PID namespace at once.
func (a *app) fork(count int, orphan bool) {
	for range count {
		command := exec.Command("/proc/self/exe", "-sleep")
		if orphan {
			command = exec.Command("/proc/self/exe", "-http=", "-children=1", "-exit-after=50ms")
		}
		if err := command.Start(); err != nil {
			fmt.Fprintln(os.Stderr, "testserver: fork:", err)
			continue
		}
		go command.Wait()
	}
}

type logJob struct {
	Lines  int
	Rate   float64
	Stream string
	Size   int
}

// run writes "line N", padded to the size asked for; nothing is lost or doubled if the numbers have no gap.
func (job logJob) run() {
	var tick <-chan time.Time
	if job.Rate > 0 {
		ticker := time.NewTicker(time.Duration(float64(time.Second) / job.Rate))
		defer ticker.Stop()
		tick = ticker.C
	}
	for n := 1; job.Lines < 0 || n <= job.Lines; n++ {
		if tick != nil {
			<-tick
		}
		line := fmt.Sprintf("line %d", n)
		if missing := job.Size - len(line) - 1; missing > 0 {
			line += " " + strings.Repeat("x", missing)
		}
		out := os.Stdout
		if job.Stream == "stderr" || (job.Stream == "both" && n%2 == 0) {
			out = os.Stderr
		}
		fmt.Fprintln(out, line)
	}
}
