package main

import (
	"encoding/binary"
	"io"
	"net/http"
	"strconv"
)

// The statuses of grpc.health.v1 and the two codes of gRPC that are needed here.
const (
	grpcUnknown    = 0
	grpcServing    = 1
	grpcNotServing = 2

	codeOK            = 0
	codeNotFound      = 5
	codeUnimplemented = 12
)

var grpcStatuses = map[string]int{"UNKNOWN": grpcUnknown, "SERVING": grpcServing, "NOT_SERVING": grpcNotServing}

func (a *app) setGRPC(w http.ResponseWriter, r *http.Request) {
	status, known := grpcStatuses[r.FormValue("to")]
	if !known {
		http.Error(w, "to must be UNKNOWN, SERVING or NOT_SERVING", http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	a.grpc[r.FormValue("service")] = status
	a.mu.Unlock()
}

// serveGRPC answers Check by hand: one message of one field each way does not need a library.
func (a *app) serveGRPC(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status")
	finish := func(code int) { w.Header().Set("Grpc-Status", strconv.Itoa(code)) }
	if r.URL.Path != "/grpc.health.v1.Health/Check" {
		finish(codeUnimplemented)
		return
	}
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	status, known := a.grpc[serviceOf(body)]
	a.mu.Unlock()
	if !known {
		finish(codeNotFound)
		return
	}
	message := []byte{1<<3 | 0, byte(status)}
	frame := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	w.Write(append(frame, message...))
	finish(codeOK)
}

// serviceOf reads the only field of the request, a short name, after the five bytes in front of every message.
func serviceOf(frame []byte) string {
	if len(frame) < 7 || frame[5] != 1<<3|2 || len(frame) < 7+int(frame[6]) {
		return ""
	}
	return string(frame[7 : 7+int(frame[6])])
}
