package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

func TestAnswersUntilTheEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	var stderr bytes.Buffer
	go func() { ended <- run(ctx, addr, &stderr) }()

	var c net.Conn
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if c, err = net.Dial("tcp", addr); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	defer c.Close()
	fmt.Fprint(c, "*1\r\n$4\r\nPING\r\n")
	if got, err := bufio.NewReader(c).ReadString('\n'); err != nil || got != "+PONG\r\n" {
		t.Fatalf("PING: %q, %v", got, err)
	}
	cancel()
	if code := <-ended; code != 0 || stderr.Len() > 0 {
		t.Errorf("exit %d, stderr %q; want 0 and nothing", code, &stderr)
	}
}

func TestFaults(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, tc := range []struct {
		name, listen string
		code         int
		says         string
	}{
		{"no address", "", 2, "LISTEN"},
		{"no port", "127.0.0.1", 2, "LISTEN"},
		{"taken", l.Addr().String(), 1, "address already in use"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var stderr bytes.Buffer
			if code := run(t.Context(), tc.listen, &stderr); code != tc.code {
				t.Errorf("exit %d, want %d", code, tc.code)
			}
			if !strings.Contains(stderr.String(), tc.says) || strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("stderr %q, want one line with %q", &stderr, tc.says)
			}
		})
	}
}
