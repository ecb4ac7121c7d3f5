package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// spawn starts n threads, each held by a blocking system call, waits until all of them run, and answers with the number
// of threads that the process then has. They end after the given time.
func spawn(n int, life time.Duration) int {
	var started sync.WaitGroup
	for range n {
		started.Add(1)
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			started.Done()
			for until := time.Now().Add(life); time.Now().Before(until); {
				t := syscall.NsecToTimespec(time.Until(until).Nanoseconds())
				_ = syscall.Nanosleep(&t, nil) // ends early when the runtime signals the thread
			}
		}()
	}
	started.Wait()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 0
	}
	return len(tasks)
}

// thread is a thread and the processors it may use, in the kernel's list form.
type thread struct {
	PID     int    `json:"pid"`
	Task    string `json:"task"`
	Allowed string `json:"allowed"`
}

// allowed lists every thread of the processes.
func allowed(pids []int) []thread {
	var out []thread
	for _, pid := range pids {
		dirs, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		if err != nil || len(dirs) == 0 {
			out = append(out, thread{PID: pid, Allowed: "unreadable"})
		}
		for _, dir := range dirs {
			status, err := os.ReadFile(filepath.Join(dir, "status"))
			if os.IsNotExist(err) {
				continue // ended meanwhile
			}
			out = append(out, thread{PID: pid, Task: filepath.Base(dir), Allowed: field(string(status), "Cpus_allowed_list:")})
		}
	}
	return out
}

func field(status, name string) string {
	for line := range strings.Lines(status) {
		if v, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
