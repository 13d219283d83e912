package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// listen opens every address that was asked for, then serves them.
func (a *app) listen() error {
	routes := a.routes()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	servers := []struct {
		address string
		serve   func(net.Listener) error
	}{
		{a.settings.http, (&http.Server{Handler: routes}).Serve},
		{a.settings.grpc, (&http.Server{Handler: http.HandlerFunc(a.serveGRPC), Protocols: protocols}).Serve},
		{a.settings.tcp, echo},
		{a.settings.https, func(l net.Listener) error {
			certificate, err := selfSigned()
			if err != nil {
				return err
			}
			config := &tls.Config{Certificates: []tls.Certificate{certificate}}
			return (&http.Server{Handler: routes, TLSConfig: config}).ServeTLS(l, "", "")
		}},
	}
	for _, server := range servers {
		if server.address == "" {
			continue
		}
		listener, err := net.Listen("tcp", server.address)
		if err != nil {
			return err
		}
		go func() {
			fmt.Fprintln(os.Stderr, "testserver:", server.serve(listener))
			os.Exit(1)
		}()
	}
	return nil
}

// routes lists what can be asked for; every parameter is a query parameter, so that a probe can use it.
func (a *app) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", a.describeRequest)                                           // the request itself, as JSON
	mux.HandleFunc("/status/{code}", answer)                                         // ?delay=1s&header=Name:value&body=text
	mux.HandleFunc("/redirect", redirect)                                            // ?to=URL&code=302
	mux.HandleFunc("/readyz", check(&a.ready))                                       // 200 or 503
	mux.HandleFunc("/healthz", check(&a.live))                                       // 200 or 503
	mux.HandleFunc("/set/ready", a.set(func(v string) { a.ready.Store(isTrue(v)) })) // ?to=false
	mux.HandleFunc("/set/live", a.set(func(v string) { a.live.Store(isTrue(v)) }))   // ?to=false
	mux.HandleFunc("/set/ignore-term", a.set(func(v string) { a.ignoreTerm.Store(isTrue(v)) }))
	mux.HandleFunc("/set/message", a.set(func(v string) { a.message.Store(v) })) // the termination message
	mux.HandleFunc("/set/memory", a.set(func(v string) { a.holdMemory(int64(number(v))) }))
	mux.HandleFunc("/set/grpc", a.setGRPC)                                // ?service=name&to=SERVING
	mux.HandleFunc("/cpu", func(w http.ResponseWriter, r *http.Request) { // ?cores=1&for=10s
		a.burn(number(r.FormValue("cores")), duration(r.FormValue("for")))
	})
	mux.HandleFunc("/fork", func(w http.ResponseWriter, r *http.Request) { // ?count=3&orphan=true
		a.fork(number(r.FormValue("count")), isTrue(r.FormValue("orphan")))
	})
	mux.HandleFunc("/log", startLog)                                       // ?lines=10&rate=5&stream=both&size=100
	mux.HandleFunc("/exit", func(w http.ResponseWriter, r *http.Request) { // ?code=3
		go func() {
			time.Sleep(10 * time.Millisecond) // the answer goes out first
			a.exit(number(r.FormValue("code")))
		}()
	})
	mux.HandleFunc("/hits", a.showHits) // how often each path was asked for
	return a.counting(mux)
}

func (a *app) counting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.hits[r.URL.Path]++
		a.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

func (a *app) showHits(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	json.NewEncoder(w).Encode(a.hits)
}

func (a *app) set(change func(string)) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) { change(r.FormValue("to")) }
}

func (a *app) describeRequest(w http.ResponseWriter, r *http.Request) {
	hostname, _ := os.Hostname()
	json.NewEncoder(w).Encode(map[string]any{
		"method": r.Method, "path": r.URL.Path, "query": r.URL.RawQuery, "host": r.Host, "protocol": r.Proto,
		"headers": r.Header, "from": r.RemoteAddr, "hostname": hostname, "env": os.Environ(), "args": os.Args,
	})
}

type flagValue interface{ Load() bool }

func check(flag flagValue) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if !flag.Load() {
			http.Error(w, "told to fail", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	}
}

func answer(w http.ResponseWriter, r *http.Request) {
	select {
	case <-time.After(duration(r.FormValue("delay"))):
	case <-r.Context().Done():
		return
	}
	for _, header := range r.Form["header"] {
		name, value, _ := strings.Cut(header, ":")
		w.Header().Add(name, value)
	}
	w.WriteHeader(number(r.PathValue("code")))
	io.WriteString(w, r.FormValue("body"))
}

func redirect(w http.ResponseWriter, r *http.Request) {
	code := http.StatusFound
	if given := r.FormValue("code"); given != "" {
		code = number(given)
	}
	w.Header().Set("Location", r.FormValue("to"))
	w.WriteHeader(code)
}

func startLog(_ http.ResponseWriter, r *http.Request) {
	rate, _ := strconv.ParseFloat(r.FormValue("rate"), 64)
	job := logJob{number(r.FormValue("lines")), rate, r.FormValue("stream"), number(r.FormValue("size"))}
	go job.run()
}

func echo(listener net.Listener) error {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer connection.Close()
			io.Copy(connection, connection)
		}()
	}
}

func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "testserver"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		DNSNames:     []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// A parameter that is left out or makes no sense counts as zero.
func number(text string) int             { n, _ := strconv.Atoi(text); return n }
func duration(text string) time.Duration { d, _ := time.ParseDuration(text); return d }
func isTrue(text string) bool            { b, _ := strconv.ParseBool(text); return b }
