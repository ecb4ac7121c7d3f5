// Command testsubject is the service that the conformance suite of runners
// launches. It does on request what real services do by accident: it listens
// late or never, exits, forks, ignores SIGTERM, burns processor time, takes
// memory and logs. It needs the standard library only and builds without cgo.
//
// Environment: MODE (serve if empty), LISTEN (address of the HTTP server), AFTER
// (a duration, for late), CODE (exit code of exit and fill, 3 if empty), CHILDREN
// (processes that fork and swarm start, 2 if empty), BURN (the processor time that each of
// them uses, or a job, none if empty), OUT and TEXT (a file that a job writes, and what).
//
// Modes:
//
//	serve     listen and answer
//	exit      write a line to both outputs and exit with CODE
//	silent    never listen
//	late      listen after AFTER
//	stubborn  serve and ignore SIGTERM, as does a child that left the group
//	fork      serve, with CHILDREN children in the group and one that left it
//	crash     as fork; it ends when GET /exit?code=CODE asks for it
//	child     use processor time for BURN, then do nothing (what fork starts)
//	daemon    serve, with a child whose parent has ended and whose session is its own
//	swarm     serve, with CHILDREN such children that ignore SIGTERM
//	hang      take connections and never answer
//	flood     serve, and write lines to standard output at RATE megabytes a second
//	fill      serve, and write to the file OUT until there is no room; then exit with CODE
//	job       write TEXT to the file OUT, use processor time for BURN, wait for AFTER
//	          and exit with CODE (0 if empty)
//
// With arguments "print CODE TEXT" it writes TEXT to standard output and its
// MODE to standard error, and exits with CODE.
package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == "print" {
		fmt.Println(os.Args[3])
		fmt.Fprintln(os.Stderr, "mode "+os.Getenv("MODE"))
		os.Exit(number(os.Args[2], 0))
	}
	if err := run(os.Getenv("MODE")); err != nil {
		fmt.Fprintln(os.Stderr, "testsubject:", err)
		os.Exit(1)
	}
}

func run(mode string) error {
	switch mode {
	case "", "serve":
		return serve(nil)
	case "exit":
		code := number(os.Getenv("CODE"), 3)
		fmt.Println("exiting at once")
		fmt.Fprintln(os.Stderr, "exit code", code)
		os.Exit(code)
		return nil
	case "silent":
		fmt.Println("silent")
		untilTerminated()
		return nil
	case "child":
		burnAll()
		untilTerminated()
		return nil
	case "daemon", "swarm":
		return daemon(mode + "-parent")
	case "daemon-parent":
		_, err := child("child", &syscall.SysProcAttr{Setsid: true})
		return err
	case "swarm-parent":
		for range number(os.Getenv("CHILDREN"), 2) {
			if _, err := child("stubborn-child", &syscall.SysProcAttr{Setsid: true}); err != nil {
				return err
			}
		}
		return nil
	case "hang":
		return hang()
	case "flood":
		go flood(number(os.Getenv("RATE"), 1) << 20)
		return serve(nil)
	case "fill":
		go fill()
		return serve(nil)
	case "job":
		return job()
	case "late":
		time.Sleep(duration(os.Getenv("AFTER")))
		return serve(nil)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		stray, err := child("stubborn-child", &syscall.SysProcAttr{Setsid: true})
		if err != nil {
			return err
		}
		return serve([]int{stray})
	case "stubborn-child":
		signal.Ignore(syscall.SIGTERM)
		for {
			time.Sleep(time.Hour) // without any timer the runtime would take it for a deadlock, and end
		}
	case "fork", "crash":
		return fork()
	default:
		return fmt.Errorf("unknown mode %q", mode)
	}
}

func fork() error {
	var pids []int
	for i := range number(os.Getenv("CHILDREN"), 2) + 1 {
		pid, err := child("child", &syscall.SysProcAttr{Setsid: i == 0})
		if err != nil {
			return err
		}
		pids = append(pids, pid)
	}
	return serve(pids)
}

// burnAll uses the processor time that BURN names.
func burnAll() {
	for until := duration(os.Getenv("BURN")).Seconds(); cpuSeconds() < until; {
		spin()
	}
}

func daemon(parent string) error {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "MODE="+parent)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("start daemon: %w", err)
	}
	return serve(nil)
}

func job() error {
	fmt.Println("working")
	if out := os.Getenv("OUT"); out != "" {
		if err := os.WriteFile(out, []byte(os.Getenv("TEXT")), 0o600); err != nil {
			return err
		}
	}
	burnAll()
	time.Sleep(duration(os.Getenv("AFTER")))
	code := number(os.Getenv("CODE"), 0)
	fmt.Fprintln(os.Stderr, "done with", code)
	os.Exit(code)
	return nil
}

func child(mode string, attr *syscall.SysProcAttr) (int, error) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "MODE="+mode)
	cmd.SysProcAttr = attr
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start child: %w", err)
	}
	return cmd.Process.Pid, nil
}

func untilTerminated() {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGTERM, os.Interrupt)
	<-ch
}

func serve(children []int) error {
	// One line to each output, before the socket listens: whoever sees the
	// service ready may look for them.
	fmt.Println("listening on " + os.Getenv("LISTEN"))
	fmt.Fprintln(os.Stderr, "mode "+os.Getenv("MODE"))
	srv := &http.Server{Addr: os.Getenv("LISTEN"), Handler: handler(children), ReadHeaderTimeout: 10 * time.Second}
	if os.Getenv("MODE") != "stubborn" {
		go func() {
			untilTerminated()
			fmt.Println("terminated")
			os.Exit(0)
		}()
	}
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func number(s string, otherwise int) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return otherwise
}

func duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0
	}
	return d
}
