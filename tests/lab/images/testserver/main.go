// Command testserver does on request whatever a test wants a container to do: answer, refuse, be slow, die, eat memory or CPU,
// write logs, ignore signals. Flags say how it begins, HTTP requests change it while it runs (see http.go).
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

type settings struct {
	http, https, grpc, tcp string
	startDelay             time.Duration
	exitAfter              time.Duration
	exitCode               int
	notReady               bool
	readyAfter             time.Duration
	ignoreTerm             bool
	termDelay              time.Duration
	memory                 int64
	cpu                    int
	children               int
	orphans                int
	log                    logJob
	message, messagePath   string
	sleepOnly              bool
}

func readFlags() settings {
	var s settings
	flag.StringVar(&s.http, "http", ":8080", "address for HTTP; empty for none")
	flag.StringVar(&s.https, "https", "", "address for HTTPS with a certificate made at start")
	flag.StringVar(&s.grpc, "grpc", "", "address for the gRPC health service, without TLS")
	flag.StringVar(&s.tcp, "tcp", "", "address that echoes what it is sent")
	flag.DurationVar(&s.startDelay, "start-delay", 0, "wait before listening")
	flag.DurationVar(&s.exitAfter, "exit-after", 0, "end after this time; 0 for never")
	flag.IntVar(&s.exitCode, "exit-code", 0, "exit code of -exit-after and of SIGTERM")
	flag.BoolVar(&s.notReady, "not-ready", false, "/readyz fails until told otherwise")
	flag.DurationVar(&s.readyAfter, "ready-after", 0, "/readyz fails for this time")
	flag.BoolVar(&s.ignoreTerm, "ignore-term", false, "go on after SIGTERM")
	flag.DurationVar(&s.termDelay, "term-delay", 0, "time between SIGTERM and the end")
	flag.Int64Var(&s.memory, "memory", 0, "bytes to allocate and touch")
	flag.IntVar(&s.cpu, "cpu", 0, "cores to keep busy")
	flag.IntVar(&s.children, "children", 0, "child processes to start")
	flag.IntVar(&s.orphans, "orphans", 0, "grandchildren to start whose parent ends at once")
	flag.IntVar(&s.log.Lines, "log-lines", 0, "numbered lines to write; -1 for no end")
	flag.Float64Var(&s.log.Rate, "log-rate", 0, "lines a second; 0 for as fast as possible")
	flag.StringVar(&s.log.Stream, "log-stream", "stdout", "stdout, stderr or both (alternately)")
	flag.IntVar(&s.log.Size, "log-size", 0, "least length of a line")
	flag.StringVar(&s.message, "termination-message", "", "written to the termination message file at the end")
	flag.StringVar(&s.messagePath, "termination-path", "/dev/termination-log", "the termination message file")
	flag.BoolVar(&s.sleepOnly, "sleep", false, "do nothing at all (what children do)")
	flag.Parse()
	return s
}

func main() {
	s := readFlags()
	if s.sleepOnly {
		select {}
	}
	app := newApp(s)
	terms := make(chan os.Signal, 8)
	signal.Notify(terms, syscall.SIGTERM, syscall.SIGINT)
	go app.onSignals(terms)
	if s.exitAfter > 0 {
		time.AfterFunc(s.exitAfter, func() { app.exit(s.exitCode) })
	}
	if s.readyAfter > 0 {
		app.ready.Store(false)
		time.AfterFunc(s.readyAfter, func() { app.ready.Store(true) })
	}
	app.holdMemory(s.memory)
	app.burn(s.cpu, 0)
	app.fork(s.children, false)
	app.fork(s.orphans, true)
	if s.log.Lines != 0 {
		go s.log.run()
	}
	time.Sleep(s.startDelay)
	if err := app.listen(); err != nil {
		fmt.Fprintln(os.Stderr, "testserver:", err)
		os.Exit(1)
	}
	fmt.Println("testserver is up")
	select {}
}

func (a *app) onSignals(signals <-chan os.Signal) {
	for got := range signals {
		fmt.Println("got signal", got)
		if a.ignoreTerm.Load() {
			continue
		}
		time.Sleep(a.settings.termDelay)
		a.exit(a.settings.exitCode)
	}
}

// exit leaves the termination message behind, if there is one.
func (a *app) exit(code int) {
	if message, _ := a.message.Load().(string); message != "" {
		if err := os.WriteFile(a.settings.messagePath, []byte(message), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "testserver: termination message:", err)
		}
	}
	os.Exit(code)
}
