package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"time"
)

// hang listens, and leaves to the kernel all connections that come.
func hang() error {
	l, err := net.Listen("tcp", os.Getenv("LISTEN"))
	if err != nil {
		return err
	}
	fmt.Println("hanging on " + os.Getenv("LISTEN"))
	untilTerminated()
	return l.Close()
}

// flood writes so many bytes a second to standard output, in lines of 128 bytes; never
// more, whatever it was kept from writing before.
func flood(rate int) {
	const parts = 20 // of a second
	line := append(bytes.Repeat([]byte("x"), 127), '\n')
	chunk := bytes.Repeat(line, rate/parts/len(line))
	for range time.Tick(time.Second / parts) {
		if _, err := os.Stdout.Write(chunk); err != nil {
			fmt.Fprintln(os.Stderr, "flood:", err)
			os.Exit(1)
		}
	}
}

// fill writes a file until there is no room for it.
func fill() {
	f, err := os.Create(os.Getenv("OUT"))
	for block := make([]byte, 1<<20); err == nil; {
		_, err = f.Write(block)
	}
	fmt.Fprintln(os.Stderr, "fill:", err)
	os.Exit(number(os.Getenv("CODE"), 3))
}
